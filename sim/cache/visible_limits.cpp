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

// The most rows above the budget that wait for a trim, where trims are not made after every chunk.
std::size_t saw_tooth_of(const Spec& spec) {
  const Phases& phases = spec.phases;
  if (phases.then == Phases::Then::every) return phases.period - 1;
  if (phases.marked() && phases.then == Phases::Then::grow) return 0;
  const bool lazy = spec.timing == Timing::lazy && spec.visibility == Visibility::causal;
  return lazy ? spec.slack : 0;
}

// One query of a cache.
struct Step {
  std::size_t query = 0;
  std::size_t in_chunk = 0;  // its index in its chunk
  std::size_t seen = 0;      // rows that it sees
  std::size_t stored = 0;    // rows in memory
};

// Runs a cache that evicts the oldest tokens over a stream and passes every step to each(), until
// that returns false.
template <typename Each>
void walk(const Spec& spec, std::size_t tokens, const Each& each) {
  Spec plain = spec;
  plain.policy = &drop_oldest;
  plain.options = Options();
  plain.budgets = Budgets();  // a shared budget would need the other units of the layer
  UnitCache cache(plain, std::make_unique<CounterDraws>(Rng(0)));
  std::size_t stored = 0;
  std::size_t first_of_chunk = 0;
  for (std::size_t query = 0; query < tokens; ++query) {
    if (query == cache.seen()) {
      cache.begin_chunk(next_chunk(spec, query, tokens));
      first_of_chunk = query;
      stored = cache.stored();
    }
    std::size_t seen = cache.next_query().size();
    if (spec.selects()) seen = attended_by(spec.top_pages, static_cast<Position>(query));
    if (!each(Step{query, query - first_of_chunk, seen, stored})) return;
    if (query + 1 == cache.seen()) cache.end_chunk();
  }
}

FirstLoss first_loss_of(const Spec& unit, std::size_t tokens) {
  FirstLoss loss{.query = static_cast<Position>(tokens)};
  walk(unit, tokens, [&](const Step& step) {
    if (step.seen <= step.query) {
      loss.query = static_cast<Position>(step.query);
      return false;
    }
    loss.stored_before += static_cast<double>(step.stored);
    return true;
  });
  return loss;
}

}  // namespace

std::vector<std::uint32_t> visible_limits(const Spec& spec, std::size_t tokens) {
  std::vector<std::uint32_t> limits(tokens);
  const std::size_t slack = saw_tooth_of(spec);
  const bool upper_end = spec.bounded() && slack > 0 && !trims_with_all(spec);
  walk(spec, tokens, [&](const Step& step) {
    std::size_t seen = step.seen;
    if (upper_end && step.query >= spec.phases.first_trim) {
      const std::size_t most = std::size_t{spec.budget} + slack + step.in_chunk + 1;
      seen = std::min(step.query + 1, most);
    }
    limits[step.query] = static_cast<std::uint32_t>(seen);
    return true;
  });
  return limits;
}

FirstLoss first_loss(const Spec& spec,
                     const HeadGrid& grid,
                     std::span<const std::size_t> layers,
                     std::size_t tokens) {
  // Units of one size lose their first token together, so each size is run once.
  std::vector<Spec> sizes;
  FirstLoss first{.query = static_cast<Position>(tokens)};
  bool any = false;
  for (const std::size_t layer : layers) {
    for (std::size_t head = 0; head < grid.kv_heads; ++head) {
      Spec own = unit_spec(spec, grid,
                           {static_cast<std::uint32_t>(layer), static_cast<std::uint32_t>(head)});
      own.layer = LayerOf();
      if (std::ranges::find(sizes, own) != sizes.end()) continue;
      sizes.push_back(own);
      const FirstLoss loss = first_loss_of(own, tokens);
      if (!any || loss.query < first.query) first = loss;
      any = true;
    }
  }
  return first;
}

}  // namespace kv
