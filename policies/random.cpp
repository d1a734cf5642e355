#include "policies/random.h"

#include "policies/one_by_one.h"

namespace kv {
namespace {

class Random final : public OneByOne {
 public:
  [[nodiscard]] std::unique_ptr<Policy> clone() const override {
    return std::make_unique<Random>(*this);
  }

 protected:
  std::size_t choose(const Candidates& candidates, Draws& draws) override {
    return draws.below(candidates.capacity, candidates.positions.back(), 0);
  }
};

}  // namespace

std::unique_ptr<Policy> make_random() {
  return std::make_unique<Random>();
}

}  // namespace kv
