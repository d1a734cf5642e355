#include "kvcheck/properties/history.h"

#include <algorithm>
#include <exception>
#include <set>
#include <span>
#include <utility>

#include "kvcheck/base/random/rng.h"
#include "kvcheck/properties/facts_shape.h"
#include "kvcheck/properties/heads.h"

namespace kv::properties {
namespace {

class Runner {
 public:
  Runner(Family& family, const Case& what, const DrawsOf& draws, History& history)
      : family_(family), case_(what), draws_(draws), history_(history) {}

  void run() {
    try {
      subjects_.push_back(family_.make(case_.setup, draws_));
      for (const Call& call : case_.calls) {
        if (call.branch < branches_.size()) perform(call);
      }
    } catch (const std::exception& failure) {
      history_.failure = failure.what();
    }
  }

 private:
  void perform(const Call& call) {
    Event event{.call = call};
    event.fed = tokens_of(call, branches_);
    event.refused = !answer(call, event);
    if (!event.refused) carry_out(call, event.fed, branches_);
    event.branch = branches_[call.branch];
    if (call.kind != Call::Kind::feed || event.refused) {
      event.facts = subjects_[call.branch]->look();
    }
    const bool fed = call.kind == Call::Kind::feed && !event.refused;
    if (const auto wrong = shape_error(event.facts, history_.units(), fed ? event.fed.size() : 0)) {
      throw SubjectFailed(*wrong);
    }
    event.branches = static_cast<std::uint32_t>(branches_.size());
    history_.events.push_back(std::move(event));
  }

  // Takes the answer apart: true if it was done.
  template <typename T, typename Use>
  bool taken(Answer<T> answer, Event& event, Use use) {
    if (auto* refused = std::get_if<Refused>(&answer)) {
      event.why = refused->why;
      return false;
    }
    use(std::get<T>(std::move(answer)));
    return true;
  }

  bool answer(const Call& call, Event& event) {
    Subject& subject = *subjects_[call.branch];
    const auto nothing = [](Done) {};
    switch (call.kind) {
      case Call::Kind::feed:
        return taken(subject.feed({event.fed, case_.stream}), event,
                     [&](Facts facts) { event.facts = std::move(facts); });
      case Call::Kind::fork:
        return taken(subject.fork(), event,
                     [&](std::unique_ptr<Subject> copy) { subjects_.push_back(std::move(copy)); });
      case Call::Kind::truncate:
        return taken(subject.truncate(call.amount), event, nothing);
      case Call::Kind::reset:
        return taken(subject.reset(), event, nothing);
      case Call::Kind::reorder:
        return taken(subject.reorder(call.from), event, nothing);
      case Call::Kind::shift:
        return taken(subject.shift(case_.setup.sinks, -call.amount), event, nothing);
      case Call::Kind::snapshot:
        return snapshot(subjects_[call.branch], event);
    }
    return false;
  }

  bool snapshot(std::unique_ptr<Subject>& subject, Event& event) {
    bool restored = false;
    const bool reported = taken(subject->snapshot(), event, [&](std::vector<std::uint8_t> bytes) {
      std::unique_ptr<Subject> fresh = family_.make(case_.setup, draws_);
      restored = taken(fresh->restore(bytes), event, [&](Done) { subject = std::move(fresh); });
    });
    return reported && restored;
  }

  Family& family_;
  const Case& case_;
  const DrawsOf& draws_;
  History& history_;
  std::vector<std::unique_ptr<Subject>> subjects_;  // of each branch
  Branches branches_{{}};
};

// Whether the last query sees less than was fed: how caches evict that hide and free nothing, and
// what queries that choose leave out, which is the eviction that their laws are about.
bool hides_some(const Event& event, const UnitFacts& unit) {
  const std::size_t width = unit.returned.size();
  if (unit.visible.size() != width * event.fed.size()) return false;
  const auto row = std::span(unit.visible).last(width);
  const auto seen = row.size() - static_cast<std::size_t>(std::ranges::count(row, 0));
  return seen < event.branch.size();
}

}  // namespace

Coverage coverage_of(const History& history) {
  Coverage seen;
  const Contract& contract = history.contract;
  const bool selects = contract.visibility == Visibility::top_pages;
  const std::uint32_t budget = selects ? contract.top_pages.attended : contract.budget;
  const std::uint32_t window = contract.recent > 0 ? contract.recent : budget;
  for (const Event& event : history.events) {
    seen.refusal |= event.refused;
    if (event.refused || event.call.kind != Call::Kind::feed || budget == 0) continue;
    seen.wide_chunk |= event.fed.size() > window;
    seen.wrap |= event.branch.size() >= 2 * std::size_t{budget};
    for (const UnitFacts& unit : event.facts.units) {
      std::set<Token> stored;
      for (const Row& row : unit.stored) stored.insert(row.value);
      seen.eviction |= stored.size() < event.branch.size();
      seen.eviction |= (contract.masks_evicted || selects) && hides_some(event, unit);
    }
  }
  return seen;
}

std::vector<Token> tokens_of(const Call& call, const Branches& branches) {
  std::vector<Token> tokens;
  if (call.kind != Call::Kind::feed) return tokens;
  const std::size_t before = branches[call.branch].size();
  for (std::size_t i = 0; std::cmp_less(i, call.amount); ++i) {
    tokens.push_back({static_cast<std::int32_t>(before + i), call.variant});
  }
  return tokens;
}

void carry_out(const Call& call, std::span<const Token> fed, Branches& branches) {
  std::vector<Token>& branch = branches[call.branch];
  branch.insert(branch.end(), fed.begin(), fed.end());
  if (call.kind == Call::Kind::reset) branch.clear();
  if (call.kind == Call::Kind::truncate) keep_first(call.amount, branch);
  if (call.kind == Call::Kind::fork) branches.push_back(std::vector<Token>(branch));
}

void keep_first(std::int64_t length, std::vector<Token>& fed) {
  const auto left = static_cast<std::size_t>(std::max<std::int64_t>(0, length));
  if (left < fed.size()) fed.resize(left);
}

Coverage& Coverage::operator|=(const Coverage& other) {
  eviction |= other.eviction;
  wide_chunk |= other.wide_chunk;
  wrap |= other.wrap;
  refusal |= other.refusal;
  return *this;
}

std::size_t History::units() const {
  return Heads{what.setup, contract.unit}.count();
}

Place History::place_of(std::size_t index) const {
  Place place = Heads{what.setup, contract.unit}.place_of(index);
  place.layer += origin.layer;
  place.head += origin.head;
  return place;
}

Contract strictest(const std::string& name, const Setup& setup) {
  return {.name = name, .sinks = setup.sinks, .recent = setup.recent, .budget = setup.budget};
}

DrawsOf counter_draws(std::uint64_t seed) {
  return [seed](std::uint32_t unit) { return std::make_unique<CounterDraws>(Rng(seed, unit)); };
}

bool Family::run_whole(const Case& /*what*/, const DrawsOf* /*draws*/, History& /*history*/) {
  return false;
}

namespace {

Result<History> run_with(Family& family, const Case& what, const DrawsOf* draws) {
  const auto contract = family.contract(what.setup);
  if (!contract) return contract.error();
  History history{.what = what, .contract = *contract};
  if (!family.run_whole(what, draws, history)) {
    Runner(family, what, draws == nullptr ? counter_draws(what.setup.seed) : *draws, history).run();
  }
  history.coverage = coverage_of(history);
  return history;
}

}  // namespace

Result<History> run_case(Family& family, const Case& what, const DrawsOf& draws) {
  return run_with(family, what, &draws);
}

Result<History> run_case(Family& family, const Case& what) {
  return run_with(family, what, nullptr);
}

}  // namespace kv::properties
