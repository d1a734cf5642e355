// What a token brings to a unit beside attention: keys, values, queries and its class, as a pure
// function of the stream and of where it stands, so that nothing is stored.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kvcheck/base/rotation.h"
#include "kvcheck/base/token_class.h"
#include "kvcheck/properties/stream.h"
#include "kvcheck/properties/subject.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv::properties {

inline constexpr std::size_t brought_dim = 4;

// Vectors one after another, before rotation; their numbers are multiples of 1/8 in [-4, 4).
struct Brought {
  std::vector<float> keys;     // [kv-heads, brought_dim]
  std::vector<float> values;   // [kv-heads, brought_dim]
  std::vector<float> queries;  // [query heads, brought_dim]
  TokenClass token_class = TokenClass::content;

  bool operator==(const Brought&) const = default;
};

// One unit of those that share residents.
struct BroughtTo {
  Place place;              // its sequence, layer and kv-head
  std::uint32_t first = 0;  // its first query head
  std::uint32_t heads = 1;  // how many query heads it has
};

// The unit of that place as Facts tells it: by kv-head, or by query head where each has residents
// of its own.
BroughtTo brought_to(Place place, Unit unit, const Setup& setup);

// How places turn the keys and queries that are brought: neighbouring channels, the first pair by
// one radian a place, the second by 0.01.
const Rotation& brought_rotation();

// In a stream of ties all tokens bring the same to all.
Brought brought(const Stream& stream, std::span<const BroughtTo> units, Token token);

}  // namespace kv::properties
