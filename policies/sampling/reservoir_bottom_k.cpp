#include <algorithm>
#include <cstdint>
#include <limits>

#include "kvcheck/policies/parts/one_by_one.h"
#include "kvcheck/policies/policy.h"
#include "kvcheck/policies/sampling/reservoir.h"

namespace kv {
namespace {

// A key is a function of the token's position alone, so the sample after M tokens is a function of
// the set of M and nothing else.
class ReservoirBottomK final : public OneByOne {
 public:
  [[nodiscard]] std::unique_ptr<Policy> clone() const override {
    return std::make_unique<ReservoirBottomK>(*this);
  }

  void save(ByteWriter& writer) const override { writer.put(keys_); }

  void load(ByteReader& reader) override {
    reader.get(keys_);
    largest_ = unknown;
  }

 protected:
  std::size_t select(const Candidates& candidates, Draws& draws) override {
    const std::size_t k = candidates.capacity;
    while (keys_.size() < k) keys_.push_back(key(candidates.positions[keys_.size()], draws));
    if (largest_ == unknown) find_largest();

    const std::uint64_t newcomer = key(candidates.positions.back(), draws);
    if (newcomer >= keys_[largest_]) return k;  // an equal newcomer is refused, as it is the newest
    const std::size_t victim = largest_;
    keys_.erase(keys_.begin() + static_cast<std::ptrdiff_t>(victim));
    keys_.push_back(newcomer);
    find_largest();
    return victim;
  }

 private:
  static constexpr std::size_t unknown = std::numeric_limits<std::size_t>::max();

  // 63 bits: among a million tokens two keys are equal with a chance of 1 in 18 million.
  static std::uint64_t key(Position position, Draws& draws) {
    return draws.below(std::uint64_t{1} << 63, position, 0);
  }

  // Among equal keys the newest token is the victim, hence the search from the end.
  void find_largest() {
    const auto found = std::max_element(keys_.rbegin(), keys_.rend());
    largest_ = static_cast<std::size_t>(keys_.rend() - found) - 1;
  }

  std::vector<std::uint64_t> keys_;  // [k], of the middle in stream order; empty before it is full
  std::size_t largest_ = unknown;    // the index of the largest
};

}  // namespace

std::unique_ptr<Policy> make_reservoir_bottom_k() {
  return std::make_unique<ReservoirBottomK>();
}

}  // namespace kv
