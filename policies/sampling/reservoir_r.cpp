#include "kvcheck/policies/parts/one_by_one.h"
#include "kvcheck/policies/policy.h"
#include "kvcheck/policies/sampling/reservoir.h"

namespace kv {
namespace {

// Two draws, as in the method: whether the newcomer enters, and then which token it replaces. The
// textbook's single draw j below M (j < k replaces slot j) has the same distribution: given j < k,
// j is uniform below k.
class ReservoirR final : public OneByOne {
 public:
  [[nodiscard]] std::unique_ptr<Policy> clone() const override {
    return std::make_unique<ReservoirR>(*this);
  }

 protected:
  std::size_t select(const Candidates& candidates, Draws& draws) override {
    const Position newcomer = candidates.positions.back();
    const std::size_t k = candidates.capacity;
    const bool enters = draws.below(candidates.entered, newcomer, 0) < k;
    return enters ? draws.below(k, newcomer, 1) : k;
  }
};

}  // namespace

std::unique_ptr<Policy> make_reservoir_r() {
  return std::make_unique<ReservoirR>();
}

}  // namespace kv
