// Base of policies that score a resident by its mass in the last observation and evict the lowest.
//
// Such a policy adds what it needs to see, and clone(). Among equal scores the older token is
// evicted.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kvcheck/base/check.h"
#include "kvcheck/policies/parts/by_rank.h"
#include "kvcheck/policies/policy.h"

namespace kv {

class LastMass : public Policy {
 public:
  [[nodiscard]] Leaving leaving() const final { return Leaving::in_bulk; }

  void observe(const Observation& observation) final {
    KV_CHECK(observation.mass.size() >= mass_.size());
    mass_.assign(observation.mass.begin(), observation.mass.end());
  }

  void evict(const Candidates& candidates, Draws&, std::vector<std::size_t>& victims) final {
    const std::size_t n = candidates.positions.size();
    append_lowest(mass_of(candidates.first_rank, n), n - candidates.capacity, victims);
  }

  [[nodiscard]] bool scores_compare() const final { return true; }

  std::span<const double> scores(const PooledCandidates& candidates) final {
    const auto mass = mass_of(candidates.first_rank, candidates.positions.size());
    // Floats and their doubles have the same order, so evict() and a shared decision agree.
    scores_.assign(mass.begin(), mass.end());
    return scores_;
  }

  void forget(std::span<const std::size_t> ranks) final { erase_ranks(mass_, ranks); }

  void save(ByteWriter& writer) const final { writer.put(mass_); }

  void load(ByteReader& reader) final { reader.get(mass_); }

 private:
  [[nodiscard]] std::span<const float> mass_of(std::size_t first_rank, std::size_t n) const {
    KV_CHECK(first_rank + n <= mass_.size());
    return std::span(mass_).subspan(first_rank, n);
  }

  std::vector<float> mass_;     // [residents], by rank, of the last observation
  std::vector<double> scores_;  // scratch
};

}  // namespace kv
