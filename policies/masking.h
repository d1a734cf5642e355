// Masking: a policy some of whose victims are hidden instead of freed.
//
// The cache (sim/cache/unit_cache.h) asks once. Victims below the position are evicted like all
// others, never seen again and no residents any more; but their rows stay stored for good, beside
// the budget.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace kv {

inline constexpr std::uint64_t masks_all = std::numeric_limits<std::uint64_t>::max();

class Masking {
 public:
  virtual ~Masking() = default;

  // In a cache with so many sinks; 0: none is masked.
  [[nodiscard]] virtual std::uint64_t masked_below(std::size_t sinks) const = 0;

 protected:
  Masking() = default;
  Masking(const Masking&) = default;
  Masking& operator=(const Masking&) = default;
};

}  // namespace kv
