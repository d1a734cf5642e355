// A cache for one policy, without timings: the protocol of policies/policy.h in thirty lines.
#pragma once

#include <memory>
#include <vector>

#include "kvcheck/base/check.h"
#include "kvcheck/policies/policy.h"

namespace kv {

struct MiniCache {
  std::size_t sinks = 0;
  std::size_t recent = 0;
  std::size_t capacity = 1;

  std::vector<Position> residents = {};
  std::size_t middle = 0;
  std::uint64_t entered = 0;
  Position seen = 0;

  // Adds a token. The policy observes it next.
  void append() { residents.push_back(seen++); }

  // Releases all but the last `recent` tokens, one by one or in one call.
  void trim(Policy& policy, Draws& draws, Leaving leaving) {
    const std::size_t first = sinks < seen ? sinks : seen;
    while (residents.size() - first - middle > recent) {
      const std::size_t all = residents.size() - first - middle - recent;
      release(policy, draws, leaving == Leaving::in_bulk ? all : 1);
    }
  }

  // Adds tokens one at a time and trims after each.
  void stream(std::size_t tokens, Policy& policy, Draws& draws) {
    for (std::size_t i = 0; i < tokens; ++i) {
      append();
      trim(policy, draws, policy.leaving());
    }
  }

 private:
  void release(Policy& policy, Draws& draws, std::size_t newcomers) {
    middle += newcomers;
    entered += newcomers;
    if (middle <= capacity) return;
    std::vector<std::size_t> victims;
    policy.evict({std::span(residents).subspan(sinks, middle), newcomers, capacity, sinks, entered},
                 draws, victims);
    KV_CHECK(victims.size() >= middle - capacity);
    for (std::size_t& victim : victims) {
      KV_CHECK(victim < middle && (&victim == victims.data() || sinks + victim > *(&victim - 1)));
      victim += sinks;
    }
    policy.forget(victims);
    for (auto rank = victims.rbegin(); rank != victims.rend(); ++rank) {
      residents.erase(residents.begin() + static_cast<std::ptrdiff_t>(*rank));
    }
    middle -= victims.size();
  }
};

}  // namespace kv
