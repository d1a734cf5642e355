// Samplers that meet each newcomer alone: of the k + 1 middle tokens exactly one goes.
//
// The whole evict protocol of such a policy is one question, so its file holds nothing but its law.
// Requires what Leaving::one_by_one promises: one newcomer, and a middle that was full before it.
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
  // The victim's index; the newcomer's is candidates.capacity, the older ones' are below.
  [[nodiscard]] virtual std::size_t select(const Candidates& candidates, Draws& draws) = 0;
};

}  // namespace kv
