#include "kvcheck/properties/tagged/tagged_family.h"

#include <algorithm>

#include "kvcheck/properties/subjects/spec_caches.h"

namespace kv::properties {
namespace {

std::string_view name_of_policy(const TaggedOptions& options) {
  return options.policy.substr(0, options.policy.find(':'));
}

void claim(const TaggedOptions& options, Contract& contract) {
  const std::string_view policy = name_of_policy(options);
  const bool scored = policy == "h2o" || policy == "tova";
  auto& claims = contract.claims;
  contract.random = policy == "random" || policy == "reservoir";
  contract.wants_attention = scored;
  if (policy != "dense") claims.emplace("constant-size");
  if (!contract.random) claims.emplace("deterministic");
  claims.emplace(scored ? "score-driven" : "chunk-invariant");
  if (policy == "reservoir") claims.emplace("uniform");
  if (policy == "random") claims.insert({"age-geometric", "admits-newcomers"});
}

Result<void> set_sizes(const TaggedOptions& options, const Setup& setup, Contract& contract) {
  if (name_of_policy(options) == "dense") return {};
  contract.sinks = setup.sinks;
  contract.budget = setup.budget;
  contract.recent = setup.recent;
  if (name_of_policy(options) == "streaming") {
    contract.recent = setup.budget - std::min(setup.budget, setup.sinks);
  }
  if (setup.budget == 0 || setup.sinks + contract.recent > setup.budget) {
    return usage_error("sinks and recent tokens do not fit into the budget");
  }
  if (contract.recent == 0 && options.visibility == Visibility::window) {
    return usage_error("a query must see itself: recent is 0");
  }
  return {};
}

// From what a unit is sure of to all that the others are not.
Result<void> share_budget(const TaggedOptions& options, const Setup& setup, Contract& contract) {
  if (!options.shares) return {};
  const std::uint32_t kept = contract.sinks + contract.recent;
  const std::uint32_t middle = contract.budget - kept;
  const std::uint32_t sure = middle * options.alpha / 1000;
  const std::uint32_t units = setup.kv_heads * (options.unit == Unit::head ? setup.group : 1);
  contract.mean_budget = contract.budget;
  if (units == 1 || sure == middle) return {};
  contract.budget = kept + sure;
  contract.largest_budget = kept + units * middle - (units - 1) * sure;
  if (contract.budget == 0) return usage_error("a head could end up with nothing");
  return {};
}

}  // namespace

Spec tagged_spec(const TaggedOptions& options, const Contract& contract) {
  Spec spec = parse_spec(options.policy).value();
  spec.sinks = contract.sinks;
  spec.recent = contract.recent;
  spec.budget = options.shares ? contract.mean_budget : contract.budget;
  spec.timing = contract.timing;
  spec.slack = contract.slack;
  spec.visibility = contract.visibility;
  spec.top_pages = contract.top_pages;
  spec.unit = contract.unit;
  const bool absolute = contract.positions == PositionMode::absolute;
  spec.positions = absolute ? Positions::absolute : Positions::in_cache;  // shifted are ranks too
  if (options.shares) spec.budgets = {.law = Budgets::Law::adaptive, .alpha = options.alpha};
  return spec;
}

Result<Contract> tagged_contract(const TaggedOptions& options, const Setup& setup) {
  const std::uint32_t places =
      std::max({setup.layers, setup.sequences, setup.kv_heads * setup.group});
  if (places == 0 || places > most_places) return usage_error("at most 16 of each, and one");
  Contract contract;
  if (const auto set = set_sizes(options, setup, contract); !set) return set.error();
  if (const auto set = share_budget(options, setup, contract); !set) return set.error();
  contract.timing = options.timing;
  contract.slack = options.timing == Timing::lazy ? options.slack : 0;
  contract.visibility = options.visibility;
  if (options.visibility == Visibility::top_pages) {
    contract.top_pages = pages_for(options.top_pages, setup);
  }
  contract.positions = options.positions;
  contract.unit = options.unit;
  contract.page = options.page;
  contract.pinned_first_page = options.page > 1;
  contract.unordered = options.slots != SlotOrder::in_order;
  contract.self_may_go = contract.budget > 0 && contract.recent == 0;
  contract.longest_chunk = options.longest_chunk;
  contract.rollback = options.rollback;
  contract.shifts = options.shifts;
  contract.precision = options.precision;
  contract.full_precision_recent = options.full_precision_recent;
  contract.full_precision_sinks = options.full_precision_sinks ? contract.sinks : 0;
  claim(options, contract);
  contract.reference = tagged_spec(options, contract).canonical();
  return contract;
}

}  // namespace kv::properties
