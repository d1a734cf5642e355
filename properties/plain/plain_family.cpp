#include "kvcheck/properties/plain/plain_family.h"

#include <algorithm>

#include "kvcheck/properties/subjects/spec_caches.h"

namespace kv::properties {
namespace {

constexpr std::string_view policy_text(PlainPolicy policy) {
  switch (policy) {
    case PlainPolicy::keep_all:
      return "dense:";
    case PlainPolicy::streaming:
      return "streaming:";
    case PlainPolicy::random:
      return "random:";
    case PlainPolicy::reservoir_r:
      return "reservoir:algorithm=r,";
    case PlainPolicy::reservoir_l:
      return "reservoir:algorithm=l,";
    case PlainPolicy::h2o:
      return "h2o:normalise=none,";
    case PlainPolicy::h2o_by_age:
      return "h2o:normalise=age,";
    case PlainPolicy::tova:
      return "tova:";
  }
  return "";
}

// The spec that should keep the same residents; shifted positions are ranks too.
std::string reference_of(const PlainOptions& options, const Contract& contract) {
  std::string text(policy_text(options.policy));
  if (options.policy == PlainPolicy::keep_all) {
    text = "dense";
  } else {
    text += "sinks=" + std::to_string(contract.sinks) +
            ",recent=" + std::to_string(contract.recent) +
            ",budget=" + std::to_string(options.shares ? contract.mean_budget : contract.budget);
  }
  text += ";timing=" + std::string(name_of(contract.timing));
  if (contract.timing == Timing::lazy) text += ":" + std::to_string(contract.slack);
  text += ";visibility=" + std::string(name_of(contract.visibility));
  if (contract.visibility == Visibility::top_pages) {
    const TopPages& selected = contract.top_pages;
    text += ":" + std::to_string(selected.attended) + "/" + std::to_string(selected.page) + "/" +
            std::to_string(selected.dense_layers);
  }
  text += ";positions=";
  text += contract.positions == PositionMode::absolute ? "absolute" : "in-cache";
  text += ";unit=" + std::string(name_of(contract.unit));
  if (!options.shares) return text;
  return text + ";budgets=" + Budgets{.law = Budgets::Law::adaptive, .alpha = options.alpha}.text();
}

void claim(const PlainOptions& options, Contract& contract) {
  const PlainPolicy policy = options.policy;
  auto& claims = contract.claims;
  if (policy != PlainPolicy::keep_all) claims.emplace("constant-size");
  const bool by_chance = policy == PlainPolicy::random || policy == PlainPolicy::reservoir_r ||
                         policy == PlainPolicy::reservoir_l;
  const bool scored = policy == PlainPolicy::h2o || policy == PlainPolicy::h2o_by_age ||
                      policy == PlainPolicy::tova;
  if (!scored) claims.emplace("chunk-invariant");
  claims.emplace(scored ? "score-driven" : by_chance ? "uniform" : "deterministic");
  if (scored) claims.emplace("deterministic");
  if (policy == PlainPolicy::random) {
    claims.erase("uniform");
    claims.emplace("age-geometric");
    claims.emplace("admits-newcomers");
  }
  contract.random = by_chance;
  contract.wants_attention = scored;
}

Result<void> set_sizes(const PlainOptions& options, const Setup& setup, Contract& contract) {
  if (options.policy == PlainPolicy::keep_all) return {};
  contract.sinks = setup.sinks;
  contract.budget = setup.budget;
  contract.recent = setup.recent;
  if (options.policy == PlainPolicy::streaming) {
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
Result<void> share_budget(const PlainOptions& options, const Setup& setup, Contract& contract) {
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

Result<Contract> plain_contract(const PlainOptions& options, const Setup& setup) {
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
  contract.unordered = options.slots != PlainSlots::in_order;
  contract.self_may_go = contract.budget > 0 && contract.recent == 0;
  contract.longest_chunk = options.longest_chunk;
  contract.rollback = options.rollback;
  contract.precision = options.precision;
  contract.full_precision_recent = options.full_precision_recent;
  contract.full_precision_sinks = options.full_precision_sinks ? contract.sinks : 0;
  claim(options, contract);
  contract.reference = reference_of(options, contract);
  return contract;
}

}  // namespace kv::properties
