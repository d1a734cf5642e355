#include "kvcheck/sim/cache/visible_limits.h"

#include <algorithm>
#include <memory>

#include "kvcheck/policies/policy.h"
#include "kvcheck/sim/cache/page_selection.h"
#include "kvcheck/sim/cache/unit_cache.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv {
namespace {

// Evicts the oldest tokens of the middle, and no more than it must.
class DropOldest final : public Policy {
 public:
  void evict(const Candidates& candidates,
             Draws& /*draws*/,
             std::vector<std::size_t>& victims) override {
    const std::size_t surplus = candidates.positions.size() - candidates.capacity;
    for (std::size_t i = 0; i < surplus; ++i) victims.push_back(i);
  }

  [[nodiscard]] std::unique_ptr<Policy> clone() const override {
    return std::make_unique<DropOldest>(*this);
  }
};

const PolicyEntry drop_oldest = {
    .name = "drop-oldest",
    .summary = {},
    .protection = {},
    .parameters = {},
    .claims = {},
    .source = {},
    .differs = {},
    .cost = {},
    .make = [](const Options&) -> std::unique_ptr<Policy> {
      return std::make_unique<DropOldest>();
    },
};

// Whether every trim leaves exactly the budget, so that all such policies trim at the same times.
bool trims_with_all(const Spec& spec) {
  const PolicyEntry& policy = *spec.policy;
  if (spec.budgets.shared()) return false;
  return policy.protection.middle == Protection::Middle::none ||
         std::ranges::find(policy.claims, "constant-size") != policy.claims.end();
}

}  // namespace

std::vector<std::uint32_t> visible_limits(const Spec& spec, std::size_t tokens) {
  std::vector<std::uint32_t> limits(tokens);
  const bool saw_tooth = spec.timing == Timing::lazy && spec.visibility == Visibility::causal;
  const bool upper_end = spec.bounded() && saw_tooth && !trims_with_all(spec);
  Spec plain = spec;
  plain.policy = &drop_oldest;
  plain.options = Options();
  plain.budgets = Budgets();  // a shared budget would need the other units of the layer
  UnitCache cache(plain, std::make_unique<CounterDraws>(Rng(0)));
  for (std::size_t query = 0; query < tokens; ++query) {
    const std::size_t in_chunk = query % spec.chunk;
    if (in_chunk == 0) cache.begin_chunk(std::min<std::size_t>(spec.chunk, tokens - query));
    std::size_t seen = cache.next_query().size();
    if (spec.selects()) seen = attended_by(spec.top_pages, static_cast<Position>(query));
    if (upper_end) {
      const std::size_t most = std::size_t{spec.budget} + spec.slack + in_chunk + 1;
      seen = std::min(query + 1, most);
    }
    limits[query] = static_cast<std::uint32_t>(seen);
    if (query + 1 == cache.seen()) cache.end_chunk();
  }
  return limits;
}

}  // namespace kv
