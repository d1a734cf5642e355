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
#include "kvcheck/sim/spec/settings.h"

namespace kv::properties {

inline constexpr std::size_t input_dim = 4;

// Vectors one after another, before rotation; their numbers are multiples of 1/8 in [-4, 4).
struct TokenInputs {
  std::vector<float> keys;     // [kv-heads, input_dim]
  std::vector<float> values;   // [kv-heads, input_dim]
  std::vector<float> queries;  // [query heads, input_dim]
  TokenClass token_class = TokenClass::content;

  bool operator==(const TokenInputs&) const = default;
};

// One unit of those that share residents.
struct InputUnit {
  Place place;              // its sequence, layer and kv-head
  std::uint32_t first = 0;  // its first query head
  std::uint32_t heads = 1;  // how many query heads it has
};

// The unit of that place as Facts tells it: by kv-head, or by query head where each has residents
// of its own.
InputUnit input_unit(Place place, Unit unit, const Setup& setup);

// How places rotate the input keys and queries: neighbouring channels, the first pair by
// one radian a place, the second by 0.01.
const Rotation& input_rotation();

// In a stream of ties all tokens bring the same to all.
TokenInputs token_inputs(const Stream& stream, std::span<const InputUnit> units, Token token);

}  // namespace kv::properties
