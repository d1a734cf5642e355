#include "kvcheck/properties/history.h"

#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include "kvcheck/base/random/rng.h"
#include "kvcheck/properties/case_run.h"
#include "kvcheck/properties/heads.h"

namespace kv::properties {
namespace {

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
    CaseRun run(family, *contract, what.setup, what.stream,
                draws == nullptr ? counter_draws(what.setup.seed) : *draws);
    for (const Call& call : what.calls) run.make(call);
    history = std::move(run).history();
    history.what = what;
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
