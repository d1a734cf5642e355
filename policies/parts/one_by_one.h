// Base of policies that take newcomers one at a time: of k + 1 candidates exactly one is evicted.
//
// Such a policy overrides only select(), which names the one victim. Requires what
// Leaving::one_by_one promises: one newcomer, and a middle that was full before it.
#pragma once

#include <cstddef>
#include <vector>

#include "kvcheck/base/check.h"
#include "kvcheck/policies/policy.h"

namespace kv {

class OneByOne : public Policy {
 public:
  void evict(const Candidates& candidates, Draws& draws, std::vector<std::size_t>& victims) final {
    KV_CHECK(candidates.newcomers == 1 && candidates.capacity >= 1);
    KV_CHECK(candidates.positions.size() == candidates.capacity + 1);
    KV_CHECK(candidates.entered >= candidates.positions.size());
    const std::size_t victim = select(candidates, draws);
    KV_CHECK(victim <= candidates.capacity);
    victims.push_back(victim);
  }

 protected:
  // The index of the victim. The newcomer has index candidates.capacity; older tokens have lower
  // indices.
  [[nodiscard]] virtual std::size_t select(const Candidates& candidates, Draws& draws) = 0;
};

}  // namespace kv
