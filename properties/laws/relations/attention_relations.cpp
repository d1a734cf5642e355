#include "kvcheck/properties/laws/relations/relations.h"

#include <algorithm>
#include <cmath>

#include "kvcheck/properties/laws/judging/scenario.h"
#include "kvcheck/properties/laws/judging/walk.h"

namespace kv::properties {
namespace {

// Gives the tokens from a place on another variant.
class OtherFuture final : public Alteration {
 public:
  explicit OtherFuture(std::int32_t from) : from_(from) {}

  Answer<Facts> feed(Subject& subject, const Feed& feed) override {
    std::vector<Token> tokens(feed.tokens.begin(), feed.tokens.end());
    for (Token& token : tokens) {
      if (token.position >= from_) token.variant += 3;
    }
    return subject.feed({tokens, feed.stream, feed.report_weights});
  }

 private:
  std::int32_t from_;
};

// The middle of the widest chunk, or of the stream if no chunk has two tokens.
std::int32_t place_to_change(const std::vector<Call>& feeds) {
  std::int64_t at = 0, widest = 1, place = 0;
  for (const Call& call : feeds) {
    if (call.amount > widest) {
      widest = call.amount;
      place = at + call.amount / 2;
    }
    at += call.amount;
  }
  return static_cast<std::int32_t>(widest > 1 ? place : at / 2);
}

// The first queries of one event, alone.
UnitFacts cut_to(const UnitFacts& facts, std::size_t queries) {
  UnitFacts cut = facts;
  // What is stored after a call may rightly depend on its later tokens.
  cut.stored.clear();
  cut.reported.reset();
  const std::size_t entries = queries * facts.returned.size();
  cut.visible.resize(std::min(cut.visible.size(), entries));
  cut.query_positions.resize(std::min(cut.query_positions.size(), queries));
  cut.key_positions.resize(std::min(cut.key_positions.size(), entries));
  cut.weights.resize(std::min(cut.weights.size(), entries));
  return cut;
}

std::optional<Difference> wrong_sum(const UnitFacts& unit, std::size_t query) {
  double sum = 0;
  bool any = false;
  for (std::size_t row = 0; row < unit.returned.size(); ++row) {
    const auto gave = static_cast<double>(weight(unit, query, row));
    const bool visible = unit.visible[query * unit.mask_width + row] != 0;
    any |= visible;
    sum += gave;
    const auto pair = [&] {
      return phrase("query ", query, " gives token ", unit.returned[row].value);
    };
    if (!(gave >= -1e-6)) {
      return Difference{pair() + " a weight of 0 or more", to_text(gave), query};
    }
    if (visible || gave <= 1e-6) continue;
    return Difference{pair() + ", which it must not see, no weight", phrase("it gives ", gave),
                      query};
  }
  // Weights may have been rounded to half precision.
  if (!any || std::abs(sum - 1) <= 2e-3) return std::nullopt;
  return Difference{phrase("the weights of query ", query, " sum to 1"),
                    phrase("they sum to ", sum), query};
}

// Tries `check` on each query whose weights were reported.
template <typename Check>
Judgement weigh_all(const History& history, Check check) {
  const auto check_queries = [&](const UnitAt& at, bool& tested) -> std::optional<Difference> {
    const std::size_t queries = at.event.fed.size();
    if (!is_feed(history, at.event) || !has_mask(at.facts, queries)) return {};
    if (!has_weights(at.facts, queries)) return {};
    for (std::size_t query = 0; query < queries; ++query) {
      tested = true;
      if (std::optional<Difference> found = check(at, query)) return found;
    }
    return {};
  };
  return check_units(history, {"the subject tells no weights", true}, check_queries);
}

}  // namespace

Judgement sums_to_one(const History& history, const Contract&) {
  return weigh_all(history,
                   [](const UnitAt& at, std::size_t query) { return wrong_sum(at.facts, query); });
}

Judgement renormalised(const History& history, const Contract&) {
  const std::uint32_t group = history.contract.unit == Unit::head ? 1 : history.what.setup.group;
  std::vector<Token> keys;
  std::vector<float> mass;
  std::vector<double> mean;
  const auto check = [&](const UnitAt& at, std::size_t query) -> std::optional<Difference> {
    const Token own = at.event.fed[query];
    const std::vector<std::size_t> rows = seen_by(at.facts, query);
    const Place place = history.place_of(at.unit);
    keys.clear();
    for (const std::size_t row : rows) keys.push_back(at.facts.returned[row].key);
    mass.resize(keys.size());
    mean.assign(keys.size(), 0.0);
    for (std::uint32_t head = 0; head < group; ++head) {
      const Payer payer{place.sequence, place.layer, place.head * group + head};
      visible_mass(history.what.stream, payer, own, keys, mass);
      for (std::size_t i = 0; i < keys.size(); ++i) {
        mean[i] += static_cast<double>(mass[i]) / group;
      }
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto gave = static_cast<double>(weight(at.facts, query, rows[i]));
      // Weights may have been rounded to half precision.
      if (std::abs(gave - mean[i]) <= 2e-3) continue;
      return Difference{phrase("query ", own, " gives token ", keys[i], " weight ", mean[i],
                               ", the softmax of its logits over the rows that it sees"),
                        phrase("it gives ", gave), query};
    }
    return std::nullopt;
  };
  return weigh_all(history, check);
}

// With all logits equal, exchanging any two rows, key and value together, changes nothing that
// attention computes. So all weights of a query must be equal.
Judgement alike_weigh_alike(Trial& trial, const Contract&) {
  Case what = with_calls(trial.what(), feeds_of(trial.what()));
  what.stream = {.kind = StreamKind::ties};
  const auto history = trial.run(what);
  if (!history) return untested(history.error());
  const auto check = [](const UnitAt& at, std::size_t query) -> std::optional<Difference> {
    const std::vector<std::size_t> rows = seen_by(at.facts, query);
    const auto in_slot = [&](std::size_t row) {
      return phrase(at.facts.returned[row].key, " in slot ", row);
    };
    for (const std::size_t row : rows) {
      const auto first = static_cast<double>(weight(at.facts, query, rows.front()));
      const auto gave = static_cast<double>(weight(at.facts, query, row));
      // Roundings may differ from row to row, in proportion to the weight.
      if (std::abs(gave - first) <= 1e-4 * first) continue;
      return Difference{phrase("all logits being equal, query ", at.event.fed[query],
                               " gives token ", in_slot(row), " the weight ", first,
                               " that it gives token ", in_slot(rows.front())),
                        phrase("it gives ", gave), query};
    }
    return std::nullopt;
  };
  return in_run(*history, weigh_all(*history, check));
}

Judgement no_leak(Trial& trial, const Contract& contract) {
  const Case what = with_calls(trial.what(), feeds_of(trial.what()));
  const std::int32_t from = place_to_change(what.calls);
  const auto history = trial.run(what);
  if (!history) return untested(history.error());
  const auto changed =
      altered(trial.family(), [&](const Setup&) { return std::make_unique<OtherFuture>(from); });
  const auto other = trial.run_on(*changed, what);
  if (!other) return untested(other.error());
  const Compare compare = comparing(contract, trial.family());
  bool within = false;  // the change lies inside a chunk, of which the first queries come before it
  for (std::size_t i = 0; i < std::min(history->events.size(), other->events.size()); ++i) {
    const Event& event = history->events[i];
    if (!is_feed(*history, event) || event.fed.front().position >= from) continue;
    const std::size_t before = static_cast<std::size_t>(from - event.fed.front().position);
    const std::size_t queries = std::min(event.fed.size(), before);
    within |= queries < event.fed.size();
    const std::size_t units =
        std::min(event.facts.units.size(), other->events[i].facts.units.size());
    for (std::size_t unit = 0; unit < units; ++unit) {
      const auto found =
          difference(cut_to(event.facts.units[unit], queries),
                     cut_to(other->events[i].facts.units[unit], queries), queries, compare);
      if (!found) continue;
      return finding_in(*history, i, unit, *found,
                        phrase("whatever the tokens from ", from, " on are"));
    }
  }
  if (!within) {
    return NotTested{"what comes later comes in later calls only", contract.longest_after(0) == 1};
  }
  return std::monostate{};
}

// The constants keep each kind's logits exact: chance is a multiple of 2^-24 below 1 (of 2^-22
// below 4 where it is stretched), and remains one. Distances in `recency` are rounded already.
Judgement offset_is_nothing(Trial& trial, const Contract& contract) {
  Case what = with_calls(trial.what(), feeds_of(trial.what()));
  if (what.stream.kind == StreamKind::recency) what.stream.kind = StreamKind::random;
  return unless_rounding(what, [&](const Case& tried) -> Judgement {
    const StreamKind kind = tried.stream.kind;
    const bool wide =
        kind == StreamKind::random || kind == StreamKind::unscored || kind == StreamKind::ties;
    Case moved = tried;
    moved.stream.offset += wide ? -2.0F : -0.5F;
    const auto plain = trial.run(tried);
    if (!plain) return untested(plain.error());
    const auto other = trial.run(moved);
    if (!other) return untested(other.error());
    Compare compare = comparing(contract, trial.family());
    compare.weight_slack = 2e-3;
    const auto found =
        disagreement({*plain}, {*other}, compare, "with a constant added to all logits as without");
    return found ? held(found) : unless_heedless(*plain);
  });
}

}  // namespace kv::properties
