// Shapes: layers, heads and sequences beyond the two or three of most cases, by a covering design.
//
// Faults begin behind a power of two, or at every sixth layer. So each number of layers, kv-heads
// and sequences just beyond such an edge stands in some shape together with each of another kind,
// and a battery's shared cases go through all shapes whatever its seed.
#pragma once

#include <cstdint>
#include <span>

#include "kvcheck/properties/subject.h"

namespace kv::properties {

struct SetupShape {
  std::uint32_t layers = 1;
  std::uint32_t kv_heads = 1;
  std::uint32_t group = 1;
  std::uint32_t sequences = 1;

  [[nodiscard]] std::uint32_t units() const { return layers * kv_heads * sequences; }
};

// No shape has more units, nor more than 16 query heads, which is what tags can tell apart.
inline constexpr std::uint32_t most_units = 144;

// In the order in which cases take them: ten that follow each other, as many as a law that compares
// runs has at the quick level, have nine layers, heads and sequences or more among them.
std::span<const SetupShape> covering_shapes();

}  // namespace kv::properties
