#include "kvcheck/properties/contract.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "kvcheck/policies/policy.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv::properties {
namespace {

std::uint64_t whole_pages(std::uint64_t rows, std::uint64_t page) {
  return (rows + page - 1) / page * page;
}

// Rows round up to whole pages, plus the page that is being filled, plus what is left of the sinks'
// last page, which cannot be freed while the rows after it can.
std::uint64_t paged(const Contract& contract, std::uint64_t rows) {
  if (contract.page <= 1) return rows;
  return whole_pages(rows, contract.page) + contract.page +
         whole_pages(contract.sinks, contract.page) - contract.sinks;
}

// How many rows of the sinks' page stay stored though no query sees them: as the spec says whose
// residents these ought to be.
std::uint64_t masked_rows(const Contract& contract) {
  if (!contract.pinned_first_page || contract.reference.empty()) return 0;
  const auto spec = parse_spec(contract.reference);
  if (!spec) return 0;
  const std::unique_ptr<Policy> policy = spec->policy->make(spec->options);
  const std::uint64_t below = policy->masked_below(contract.sinks);
  return below > contract.sinks ? below - contract.sinks : 0;
}

PositionMode mode_of(Positions positions) {
  switch (positions) {
    case Positions::absolute:
      return PositionMode::absolute;
    case Positions::in_cache:
      return PositionMode::in_cache;
    case Positions::shifted:
      return PositionMode::shifted;
  }
  return PositionMode::unreported;
}

// Budgets of their own: from the smallest to the largest, and no law of chance for all.
void declare_budgets(const Spec& spec, const HeadGrid& grid, Contract& contract) {
  if (spec.budgets.law == Budgets::Law::equal) return;
  if (spec.budgets.shared()) {
    const std::uint32_t kept = spec.sinks + spec.recent;
    contract.mean_budget = spec.budget;
    contract.largest_budget = kept + adaptive_most(spec, grid);
    contract.budget =
        contract.largest_budget > spec.budget ? kept + adaptive_floor(spec) : spec.budget;
    return;
  }
  std::vector<std::uint32_t> budgets;
  for (std::uint32_t layer = 0; layer < grid.layers; ++layer) {
    for (std::uint32_t head = 0; head < grid.kv_heads; ++head) {
      const Spec own = unit_spec(spec, grid, {layer, head});
      const std::size_t units = spec.unit == Unit::head ? grid.group : 1;
      budgets.insert(budgets.end(), units, own.bounded() ? own.budget : 0);
    }
  }
  contract.set_budgets(std::move(budgets));
  if (!contract.uneven()) return;
  for (const std::string_view claim : {"uniform", "age-geometric"}) {
    contract.claims.erase(std::string(claim));
  }
}

// The claims are about caches that go on evicting, and tell a stream's age or its chunks apart only
// as far as no prompt does.
void declare_phases(const Spec& spec, Contract& contract) {
  const Phases& phases = spec.phases;
  if (phases.compress == Phases::Compress::always) return;
  contract.ratio = phases.ratio;
  const auto disclaim = [&](std::initializer_list<std::string_view> claims) {
    for (const std::string_view claim : claims) contract.claims.erase(std::string(claim));
  };
  if (phases.compress == Phases::Compress::never) {
    contract.budget = contract.mean_budget = contract.largest_budget = 0;
    contract.budgets.clear();
    contract.sinks = contract.recent = 0;
    contract.timing = Timing::attend_then_trim;
    contract.random = contract.keeps_fewer = contract.wants_attention = false;
    contract.may_evict_newest = contract.pinned_first_page = contract.masks_evicted = false;
    contract.claims = {"deterministic"};
    return;
  }
  contract.compress =
      phases.then == Phases::Then::grow ? Compress::prompt_grow : Compress::prompt_hold;
  if (phases.ratio > 0) disclaim({"uniform", "age-geometric", "chunk-invariant"});
  // What a unit's part of the share is, only the spec knows.
  if (phases.ratio > 0 && spec.budgets.law != Budgets::Law::equal) {
    contract.largest_budget = any_depth;
    contract.budgets.clear();
  }
  if (contract.grows()) {
    disclaim({"uniform", "age-geometric", "chunk-invariant", "constant-size", "admits-newcomers"});
    contract.timing = Timing::attend_then_trim;
  } else if (phases.then == Phases::Then::every && phases.period > 1) {
    contract.timing = Timing::lazy;
    contract.slack = phases.period - 1;
  }
}

// What a policy's options change of what its entry says.
void declare_options(const Spec& spec, Contract& contract) {
  const std::unique_ptr<Policy> policy = spec.policy->make(spec.options);
  const std::uint64_t below = policy->masked_below(contract.sinks);
  if (below > 0) {
    contract.masks_evicted = below == masks_all;
    contract.pinned_first_page = !contract.masks_evicted;
  }
  // Every newcomer is admitted, with a score below that of the token that is evicted for it.
  if (spec.policy->name == "h2o" && spec.options.at("form") == "flexgen") {
    contract.claims.emplace("ageing");
  }
}

}  // namespace

std::uint64_t Contract::most_stored(std::uint64_t tokens, std::uint64_t chunk) const {
  if (unlimited() || masks_evicted) {
    return tokens;
  }
  const std::uint64_t largest = std::max(budget, largest_budget);
  std::uint64_t most = largest - (evicts_ahead ? 1 : 0);
  if (timing == Timing::lazy) {
    most = largest + slack;
  } else if (timing == Timing::trim_then_attend) {
    // No token of a chunk may be evicted before it was attended to, so one longer than the recent
    // window is stored whole; and where each query has a window of its own, so is what the first
    // one sees.
    const std::uint64_t kept = visibility == Visibility::window ? largest : largest - recent;
    most = std::max(most, kept + chunk);
  }
  return std::min(tokens, paged(*this, most) + masked_rows(*this));
}

std::uint64_t Contract::fewest_stored(std::uint64_t tokens, std::uint64_t chunk) const {
  if (budget == 0 || masks_evicted) {
    return tokens;
  }
  std::uint64_t fewest = budget - (evicts_ahead ? 1 : 0);
  // Room is made before the chunk is stored, and nothing is evicted after it: what is not recent
  // remains beside a chunk that is longer than the recent window.
  if (timing == Timing::trim_then_attend && claims_to_be("constant-size")) {
    fewest = std::max<std::uint64_t>(fewest, budget - recent + chunk);
  }
  return std::min(tokens, fewest);
}

std::uint64_t Contract::most_visible(std::uint64_t stored,
                                     std::uint64_t chunk,
                                     std::uint64_t index) const {
  const std::uint64_t all = stored + index + 1;
  if (unlimited()) {
    return all;
  }
  // That rows are stored in pages is no reason to see more of them.
  const std::uint64_t largest = std::max(budget, largest_budget);
  const std::uint64_t whole = shows_pages ? paged(*this, largest) : largest;
  if (visibility == Visibility::window) {
    return std::min(all, whole);
  }
  if (timing == Timing::trim_then_attend) {
    const std::uint64_t room = whole > chunk ? whole - chunk : 0;
    const std::uint64_t left = std::max(room, whole - std::min<std::uint64_t>(whole, recent));
    return std::min(all, left + index + 1);
  }
  const std::uint64_t before = whole - (evicts_ahead ? 1 : 0);
  return std::min(all, before + (timing == Timing::lazy ? slack : 0) + index + 1);
}

void Contract::set_budgets(std::vector<std::uint32_t> each) {
  budget = any_depth;
  largest_budget = 0;
  for (const std::uint32_t own : each) {
    const std::uint32_t limit = own == 0 ? any_depth : own;
    budget = std::min(budget, limit);
    largest_budget = std::max(largest_budget, limit);
  }
  if (budget == any_depth) budget = largest_budget = 0;
  budgets.clear();
  if (uneven()) budgets = std::move(each);
}

void Contract::set_rows_from(std::vector<std::uint32_t> each) {
  rows_from = std::move(each);
  for (std::uint32_t layer = 0; layer < rows_from.size(); ++layer) {
    if (rows_from[layer] != layer) return;
  }
  rows_from.clear();
}

Contract Contract::of_unit(std::size_t index) const {
  Contract own = *this;
  own.budget = budgets[index];
  own.largest_budget = 0;
  own.budgets.clear();
  if (windows && own.budget > own.sinks) own.recent = own.budget - own.sinks;
  return own;
}

Contract Contract::at(const Fed& fed) const {
  Contract own = *this;
  own.ratio = 0;
  own.compress = Compress::always;
  if (compress == Compress::always || budget == 0) return own;
  const std::uint64_t after = fed.tokens - std::min(fed.tokens, fed.prompt);
  // The first trim is to the budget, and there is none before it.
  if (after == 0 || grows()) own.timing = Timing::attend_then_trim;
  // A window may follow the share, and the wider it is the less remains beside a wide chunk.
  if (ratio > 0 && timing == Timing::trim_then_attend) own.claims.erase("constant-size");
  const auto limit = [&](std::uint32_t tokens) {
    const std::uint64_t share = std::max<std::uint64_t>(tokens, fed.prompt * ratio / 1000);
    return static_cast<std::uint32_t>(
        std::min<std::uint64_t>(share + (grows() ? after : 0), any_depth - 1));
  };
  // Which part of the share is a unit's own is not known where units differ.
  const bool parts = ratio > 0 && uneven();
  if (!parts) own.budget = limit(budget);
  if (shares_budget()) own.mean_budget = limit(mean_budget);
  if (uneven() && largest_budget != any_depth) own.largest_budget = limit(largest_budget);
  return own;
}

Contract contract_of(const Spec& spec, const HeadGrid& grid) {
  Contract contract;
  contract.name = spec.label();
  contract.sinks = spec.sinks;
  contract.recent = spec.recent;
  contract.budget = spec.budget;
  contract.timing = spec.timing;
  contract.slack = spec.slack;
  contract.visibility = spec.visibility;
  contract.top_pages = spec.top_pages;
  contract.positions = mode_of(spec.positions);
  contract.unit = spec.unit;
  for (const std::string_view claim : spec.policy->claims) {
    contract.claims.emplace(claim);
  }
  contract.random = !contract.claims_to_be("deterministic");
  contract.wants_attention = needs_of(spec).attention;
  contract.keeps_fewer = spec.policy->protection.middle == Protection::Middle::some &&
                         !contract.claims_to_be("constant-size");
  contract.may_evict_newest = spec.bounded() && spec.recent == 0;
  contract.rollback = 0;
  declare_options(spec, contract);
  declare_budgets(spec, grid, contract);
  declare_phases(spec, contract);
  contract.reference = spec.canonical();
  return contract;
}

}  // namespace kv::properties
