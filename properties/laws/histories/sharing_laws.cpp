#include <array>

#include "kvcheck/properties/laws/judging/judge.h"
#include "kvcheck/properties/laws/judging/law_groups.h"

namespace kv::properties {
namespace {

WhyNot unless_shared(const Contract& contract) {
  if (!contract.shares_budget()) return "no mean-budget is declared: each unit has its own budget";
  if (contract.page > 1) return "pages are declared: rows come and go together";
  if (contract.masks_evicted) return "masks-instead: hidden rows remain stored";
  return {};
}

std::size_t units_of_layer(const History& history) {
  const Setup& setup = history.what.setup;
  return history.contract.unit == Unit::head ? setup.query_heads() : setup.kv_heads;
}

// As if each unit had the mean for itself: then the bounds of one unit, times the heads, are those
// of the layer, however the units divide it.
Contract with_equal_budgets(Contract contract) {
  contract.budget = contract.mean_budget;
  contract.largest_budget = 0;
  return contract;
}

Judgement layer(const History& history, const Contract& contract) {
  const std::size_t heads = units_of_layer(history);
  if (heads < 2) return NotTested{"there is one head only", true};
  for (const Step& step : steps_of(history)) {
    const auto& units = step.event->facts.units;
    // Facts of another shape are the finding of survives.
    if (units.size() != history.units()) continue;
    const Contract equal = with_equal_budgets(contract.at(step.after()));
    const std::uint64_t tokens = step.event->branch.size();
    const std::uint64_t most = heads * equal.most_stored(tokens, step.chunk);
    // After other calls than feeds there may be fewer tokens than the units have room for.
    const bool may_be_fewer = contract.keeps_fewer || !step.fed();
    const std::uint64_t fewest = may_be_fewer ? 0 : heads * equal.fewest_stored(tokens, step.chunk);
    for (std::size_t first = 0; first < units.size(); first += heads) {
      std::uint64_t stored = 0;
      std::string shares;
      for (std::size_t i = 0; i < heads; ++i) {
        stored += units[first + i].stored.size();
        shares += (i == 0 ? "" : " + ") + std::to_string(units[first + i].stored.size());
      }
      if (fewest <= stored && stored <= most) continue;
      const bool exact = fewest == most;
      return finding_at(
          step, first,
          phrase("the ", heads, " units of a layer store ", exact ? "" : phrase(fewest, " to "),
                 rows_text(most), " together after ", tokens, " tokens"),
          phrase(shares, " = ", stored));
    }
  }
  return {};
}

constexpr auto table = std::to_array<Law>({
    {.id = "size.layer",
     .sentence = "Units that share a budget keep exactly the layer's together.",
     .why = "Heads that share a budget may hold more or less than their equal part, so no bound on "
            "one of them says what the layer costs. Counted over the layer, the rows are those of "
            "equal budgets: no more, and once enough tokens came no fewer. Shares that are rounded "
            "each for itself leave rows unused; a pool that leaves a head out or spans "
            "several layers keeps too many here and too few there. That each unit has at least "
            "what it is sure of is size.full.",
     .seen_in = "FFY0/AdaKV, snapkv_utils.py; PyramidKV's floors",
     .wants = {.several_layers = true, .several_heads = true},
     .not_applicable = unless_shared,
     .check = layer},
});

}  // namespace

constinit const Laws sharing_laws = table;

}  // namespace kv::properties
