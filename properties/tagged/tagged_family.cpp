#include "kvcheck/properties/tagged/tagged_family.h"

#include <algorithm>

#include "kvcheck/properties/subjects/spec_caches.h"

namespace kv::properties {

Result<std::shared_ptr<const Spec>> tagged_spec(const TaggedOptions& options, const Setup& setup) {
  const std::uint32_t places =
      std::max({setup.layers, setup.sequences, setup.kv_heads * setup.group});
  if (places == 0 || places > most_places) return usage_error("at most 16 of each, and one");
  Spec spec = parse_spec(options.policy).value();
  if (spec.bounded() && setup.budget == 0) return usage_error("the budget is 0");
  spec.timing = options.timing;
  spec.slack = options.timing == Timing::lazy ? options.slack : 0;
  spec.visibility = options.visibility;
  spec.top_pages = options.top_pages;
  const bool absolute = options.positions == PositionMode::absolute;
  spec.positions = absolute ? Positions::absolute : Positions::in_cache;  // shifted are ranks too
  spec.unit = options.unit;
  if (options.compress != Compress::always) {
    const bool grows = options.compress == Compress::prompt_grow;
    spec.phases.compress = Phases::Compress::prompt;
    spec.phases.then = grows ? Phases::Then::grow : Phases::Then::hold;
    spec.phases.ratio = options.ratio;
    spec.phases.recent_follows = options.ratio > 0;
  }
  if (options.shares) spec.budgets = {.law = Budgets::Law::adaptive, .alpha = options.alpha};
  auto made = spec_for(spec, setup);
  // The next token takes its place in the middle from the one that leaves the window for it.
  if (!made) return made.error();
  if (options.evicts_ahead && made->recent == 0) return usage_error("no window is kept");
  return std::make_shared<const Spec>(*std::move(made));
}

Contract tagged_contract(const TaggedOptions& options, const Spec& spec, const Setup& setup) {
  Contract contract = contract_of(spec, {setup.layers, setup.kv_heads, setup.group});
  contract.positions = options.positions;
  contract.page = options.page;
  contract.pinned_first_page = options.page > 1;
  contract.shows_pages = options.shows_pages;
  contract.unordered = options.slots != SlotOrder::in_order;
  contract.longest_chunk = options.longest_chunk;
  contract.first_chunk = options.first_chunk;
  contract.evicts_ahead = options.evicts_ahead;
  if (options.evicts_ahead && options.visibility != Visibility::window) contract.reference.clear();
  contract.rollback = options.rollback;
  if (options.borrows) contract.set_rows_from(owners_of(setup.layers));
  contract.shifts = options.shifts;
  contract.precision = options.precision;
  contract.full_precision_recent = options.full_precision_recent;
  contract.full_precision_sinks = options.full_precision_sinks ? contract.sinks : 0;
  return contract;
}

}  // namespace kv::properties
