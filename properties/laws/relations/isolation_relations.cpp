#include "kvcheck/properties/laws/relations/relations.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "kvcheck/base/random/rng.h"
#include "kvcheck/properties/laws/judging/scenario.h"
#include "kvcheck/properties/laws/judging/walk.h"

namespace kv::properties {
namespace {

// Feeds only, enough to evict often, of a stream in which attention differs from payer to payer.
Case telling(const Case& what, const Contract& contract) {
  Case result = with_calls(what, feeds_of(what, 3 * std::uint64_t{what.setup.budget}, contract));
  for (const StreamKind alike :
       {StreamKind::ties, StreamKind::sink, StreamKind::recency, StreamKind::hitter}) {
    if (result.stream.kind == alike) result.stream.kind = StreamKind::random;
  }
  return result;
}

// The stream with one of its numbers changed.
template <typename Number>
Stream with(Stream stream, Number Stream::*changed, std::uint32_t number) {
  stream.*changed = static_cast<Number>(number);
  return stream;
}

// Runs the case with its stream, and with a disturbed one; the units that `which` names must do the
// same in both.
Judgement undisturbed(Trial& trial,
                      const Contract& contract,
                      const Case& what,
                      const Stream& disturbed,
                      const std::string& as,
                      const std::function<bool(const Place& place)>& which) {
  const auto quiet = trial.run(what);
  if (!quiet) return untested(quiet.error());
  const auto moved = trial.run({what.setup, disturbed, what.calls});
  if (!moved) return untested(moved.error());
  const auto found = disagreement({*quiet}, {*moved}, comparing(contract, trial.family()), as,
                                  [&](std::size_t unit) { return which(quiet->place_of(unit)); });
  return found ? held(found) : unless_heedless(*quiet);
}

// Of so many layers or heads: those that are disturbed in turn. The first two and the last show
// what one takes from another; all of them would only cost more runs.
std::set<std::uint32_t> some_of(std::uint32_t count) {
  return {0, std::min(1U, count - 1), count - 1};
}

}  // namespace

Judgement layers_apart(Trial& trial, const Contract& contract) {
  const Case what = telling(trial.what(), contract);
  if (what.setup.layers < 2) return NotTested{"there is one layer only", true};
  for (const std::uint32_t layer : some_of(what.setup.layers)) {
    Judgement judged =
        undisturbed(trial, contract, what, with(what.stream, &Stream::disturbed_layer, layer),
                    phrase("whatever layer ", layer, " attends to"), [&](const Place& place) {
                      return place.layer != layer && contract.owner_of(place.layer) != layer;
                    });
    if (!std::holds_alternative<std::monostate>(judged)) return judged;
  }
  return std::monostate{};
}

Judgement heads_apart(Trial& trial, const Contract& contract) {
  const Case what = telling(trial.what(), contract);
  // Query heads per head of the facts.
  const std::uint32_t group = contract.unit == Unit::head ? 1 : what.setup.group;
  const std::uint32_t heads = what.setup.query_heads() / group;
  if (heads < 2) return NotTested{"there is one head only", true};
  for (const std::uint32_t head : some_of(heads)) {
    Judgement judged = undisturbed(trial, contract, what,
                                   with(what.stream, &Stream::disturbed_query_head, head * group),
                                   phrase("whatever query head ", head * group, " attends to"),
                                   [&](const Place& place) { return place.head != head; });
    if (!std::holds_alternative<std::monostate>(judged)) return judged;
  }
  return std::monostate{};
}

Judgement sequences_apart(Trial& trial, const Contract& contract) {
  const Case what = telling(trial.what(), contract);
  const std::uint32_t sequences = what.setup.sequences;
  if (sequences < 2) return NotTested{"there is one sequence only", true};
  const auto batch = trial.run(what);
  if (!batch) return untested(batch.error());
  // With a generator of its own a subject need not draw the same in another batch.
  const bool alone_too = !contract.random || trial.family().uses_draws();
  for (const std::uint32_t sequence : some_of(sequences)) {
    Judgement judged =
        undisturbed(trial, contract, what, with(what.stream, &Stream::disturbed_sequence, sequence),
                    phrase("whatever sequence ", sequence, " attends to"),
                    [&](const Place& place) { return place.sequence != sequence; });
    if (std::holds_alternative<Finding>(judged)) return judged;
    if (!alone_too && !std::holds_alternative<std::monostate>(judged)) return judged;
    if (!alone_too) continue;
    Case single = what;
    single.setup.sequences = 1;
    single.stream.first_sequence += sequence;
    const std::size_t each = batch->units() / sequences;
    const auto first = static_cast<std::uint32_t>(sequence * each);
    const auto alone = trial.run_on(trial.family(), single, [&](std::uint32_t unit) {
      return std::make_unique<CounterDraws>(Rng(what.setup.seed, first + unit));
    });
    if (!alone) return untested(alone.error());
    // The batch with this sequence's units only, so that the two have the same units.
    History part = *batch;
    for (Event& event : part.events) {
      if (event.facts.units.size() != batch->units()) continue;
      const auto begin = event.facts.units.begin() + static_cast<std::ptrdiff_t>(first);
      event.facts.units = {begin, begin + static_cast<std::ptrdiff_t>(each)};
    }
    part.what.setup.sequences = 1;
    auto found = disagreement({*alone}, {part}, comparing(contract, trial.family()),
                              phrase("sequence ", sequence, ", as when it is alone"));
    if (!found) continue;
    found->unit += first;
    found->history = *batch;
    return *found;
  }
  return std::monostate{};
}

Judgement group_exchanges(Trial& trial, const Contract& contract) {
  // Sums over the group are added in another order, hence unless_rounding.
  Case what = telling(trial.what(), contract);
  if (what.setup.group < 2) what.setup.group = 2;
  return unless_rounding(what, [&](const Case& tried) -> Judgement {
    return undisturbed(
        trial, contract, tried, with(tried.stream, &Stream::mirrored_group, tried.setup.group),
        "whichever query head of the group attends to what", [](const Place&) { return true; });
  });
}

Judgement shared_alike(const History& history, const Contract& contract) {
  const bool model = contract.unit == Unit::model;
  const bool layer = contract.unit == Unit::layer;
  if (!model && !layer && !contract.shares_rows()) return NotTested{"no units share"};
  if (history.units() < 2) return NotTested{"there is one unit only", true};
  const Compare compare{.ordered = !contract.unordered, .weights = false};
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::size_t> first;
  const auto check = [&](const UnitAt& at, bool& tested) -> std::optional<Difference> {
    const Place place = history.place_of(at.unit);
    const std::uint32_t owner = model ? 0 : contract.owner_of(place.layer);
    const std::uint32_t head = model || layer ? 0 : place.head;
    const auto other = first.try_emplace({place.sequence, owner, head}, at.unit).first->second;
    if (other == at.unit) return {};
    tested = true;
    const std::size_t queries = is_feed(history, at.event) ? at.event.fed.size() : 0;
    auto found = difference(at.event.facts.units[other], at.facts, queries, compare);
    if (found) found->expected = phrase("as unit ", other, ": ", found->expected);
    return found;
  };
  return check_units(history, {"no two units share"}, check);
}

namespace {

// Feeds the same tokens of another stream to a cache of its own before each call.
class Companion final : public Alteration {
 public:
  Companion(Family& family, const Setup& setup)
      : other_(family.make(setup, counter_draws(setup.seed + 1))) {}

  Answer<Facts> feed(Subject& subject, const Feed& feed) override {
    Stream stream = feed.stream;
    stream.seed += 101;
    stream.kind = StreamKind::random;
    std::vector<Token> tokens(feed.tokens.begin(), feed.tokens.end());
    // It is always one token ahead, so that no length agrees by chance.
    if (fed_ == 0) tokens.insert(tokens.begin(), Token{0, 0});
    std::int32_t position = fed_;
    for (Token& token : tokens) token = {position++, 5};
    if (std::holds_alternative<Facts>(other_->feed({tokens, stream}))) fed_ = position;
    return subject.feed(feed);
  }

 private:
  std::unique_ptr<Subject> other_;
  std::int32_t fed_ = 0;
};

}  // namespace

Judgement objects_apart(Trial& trial, const Contract& contract) {
  const auto alone = trial.run(trial.what());
  if (!alone) return untested(alone.error());
  const std::unique_ptr<Family> family = altered(trial.family(), [&](const Setup& setup) {
    return std::make_unique<Companion>(trial.family(), setup);
  });
  const auto together = trial.run_on(*family, trial.what());
  if (!together) return untested(together.error());
  Compare compare = comparing(contract, trial.family());
  compare.exact = true;  // both were made with the same seed
  return held(disagreement_of_all(*alone, *together, compare, "as when no other cache is in use"));
}

}  // namespace kv::properties
