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

struct Branch {
  std::unique_ptr<Subject> subject;
  std::vector<Token> fed;
};

class Runner {
 public:
  Runner(Family& family, const Case& what, const DrawsOf& draws, History& history)
      : family_(family), case_(what), draws_(draws), history_(history) {}

  void run() {
    try {
      branches_.push_back({family_.make(case_.setup, draws_), {}});
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
    at_ = call.branch;
    event.refused = !answer(call, event);
    Branch& branch = branches_[call.branch];
    event.branch = branch.fed;
    if (call.kind != Call::Kind::feed || event.refused) event.facts = branch.subject->look();
    const bool fed = call.kind == Call::Kind::feed && !event.refused;
    if (const auto wrong = shape_error(event.facts, history_.units(), fed ? event.fed.size() : 0)) {
      throw SubjectFailed(*wrong);
    }
    event.branches = static_cast<std::uint32_t>(branches_.size());
    history_.coverage.refusal |= event.refused;
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
    Branch& branch = branches_[at_];
    Subject& subject = *branch.subject;
    const auto nothing = [](Done) {};
    switch (call.kind) {
      case Call::Kind::feed:
        return feed(branch, call, event);
      case Call::Kind::fork:
        return taken(subject.fork(), event, [&](std::unique_ptr<Subject> copy) {
          std::vector<Token> fed = branch.fed;
          branches_.push_back({std::move(copy), std::move(fed)});
        });
      case Call::Kind::truncate:
        return taken(subject.truncate(call.amount), event, [&](Done) {
          const auto length = static_cast<std::size_t>(std::max<std::int64_t>(0, call.amount));
          if (length < branch.fed.size()) branch.fed.resize(length);
        });
      case Call::Kind::reset:
        return taken(subject.reset(), event, [&](Done) { branch.fed.clear(); });
      case Call::Kind::reorder:
        return taken(subject.reorder(call.from), event, nothing);
      case Call::Kind::shift:
        return taken(subject.shift(case_.setup.sinks, -call.amount), event, nothing);
      case Call::Kind::snapshot:
        return snapshot(branch, event);
    }
    return false;
  }

  bool feed(Branch& branch, const Call& call, Event& event) {
    for (std::int64_t i = 0; i < call.amount; ++i) {
      event.fed.push_back(
          {static_cast<std::int32_t>(branch.fed.size() + event.fed.size()), call.variant});
    }
    const bool done = taken(branch.subject->feed({event.fed, case_.stream}), event,
                            [&](Facts facts) { event.facts = std::move(facts); });
    if (done) branch.fed.insert(branch.fed.end(), event.fed.begin(), event.fed.end());
    return done;
  }

  bool snapshot(Branch& branch, Event& event) {
    bool restored = false;
    const bool reported =
        taken(branch.subject->snapshot(), event, [&](std::vector<std::uint8_t> bytes) {
          std::unique_ptr<Subject> fresh = family_.make(case_.setup, draws_);
          restored =
              taken(fresh->restore(bytes), event, [&](Done) { branch.subject = std::move(fresh); });
        });
    return reported && restored;
  }

  Family& family_;
  const Case& case_;
  const DrawsOf& draws_;
  History& history_;
  std::vector<Branch> branches_;
  std::size_t at_ = 0;
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

// What a history shows, from its facts alone.
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
      seen.eviction |= (contract.masks_instead || selects) && hides_some(event, unit);
    }
  }
  return seen;
}

}  // namespace

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
  return Heads{what.setup, contract.unit}.place_of(index);
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
  if (family.run_whole(what, draws, history)) {
    for (const Event& event : history.events) history.coverage.refusal |= event.refused;
  } else {
    Runner(family, what, draws == nullptr ? counter_draws(what.setup.seed) : *draws, history).run();
  }
  history.coverage |= coverage_of(history);
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
