// The adversary: every query attends to the key that a known cache has just evicted.
#include <algorithm>
#include <utility>

#include "kvcheck/traces/synthetic/plan.h"

namespace kv {
namespace {

// A cache that protects its `recent` newest tokens and evicts the least attended of the others,
// the oldest among equals. With recent = budget it is a sliding window.
class Opponent {
 public:
  Opponent(std::size_t budget, std::size_t recent) : budget_(budget), recent_(recent) {}

  // Token t arrives, its query attends to `target`, and the cache trims. Returns the target of the
  // next query: the key that was evicted, or the next token if none was.
  Position step(Position t, Position target) {
    residents_.push_back({t, 0});
    for (Resident& resident : residents_) resident.attended += resident.position == target ? 1 : 0;
    if (residents_.size() <= budget_) return t + 1;

    // With recent = budget only the oldest token can be evicted.
    const auto last = residents_.end() - static_cast<std::ptrdiff_t>(recent_);
    const auto victim = std::min_element(
        residents_.begin(), last,
        [](const Resident& a, const Resident& b) { return a.attended < b.attended; });
    const Position evicted = victim->position;
    residents_.erase(victim);
    return evicted;
  }

 private:
  struct Resident {
    Position position;
    std::uint32_t attended;
  };

  std::size_t budget_;
  std::size_t recent_;
  std::vector<Resident> residents_;
};

}  // namespace

UnitPlan plan_one_hot(const SyntheticSpec& spec, std::size_t, std::size_t) {
  UnitPlan plan = background_plan(spec);
  Opponent opponent(spec.count("budget"), spec.count("recent"));
  Position target = 0;
  for (Position t = 0; t < spec.tokens; ++t) {
    plan.keys[t] = {Part::planted, t, 0};
    plan.queries[t] = {{0, 1, 0}, target};
    plan.plants.push_back({"target", 1, {{t, t + 1}}, {{target, 1}}});
    target = opponent.step(t, target);
  }
  return plan;
}

}  // namespace kv
