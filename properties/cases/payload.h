// Tagged vectors: keys and values that say, when read back, whose they are.
//
// A key is `pairs` rotary pairs. The length of each pair carries one digit of the tag, the angle
// the rotary position: the slow pairs tell it coarsely, the fast ones refine it. A value carries
// the same digits plainly. Digits are small whole numbers, so that tags survive f16, bf16 and int8.
// One pair has a fixed length, so that a key which was scaled as a whole is still recognised (and
// found wrong), and two digits are check sums, so that garbage is not taken for a token.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "kvcheck/properties/contract.h"
#include "kvcheck/properties/subject.h"

namespace kv::properties {

// Which two elements of a key make a rotary pair.
enum class PairLayout {
  half_split,   // i and i + pairs
  interleaved,  // 2i and 2i + 1
};

inline constexpr std::size_t payload_pairs = 12;
inline constexpr std::size_t key_size = 2 * payload_pairs;
inline constexpr std::size_t value_size = payload_pairs;  // so that keys and values differ in width

// What tags can say: positions below 65,536, variants below 256, sequences, layers and heads
// below 16.
inline constexpr std::uint32_t most_places = 16;

using KeyVector = std::array<float, key_size>;
using ValueVector = std::array<float, value_size>;

// Requires what tags can say. The key is rotated for `position`, in double.
KeyVector encode_key(Token token, const Place& place, double position, PairLayout layout);
ValueVector encode_value(Token token, const Place& place);

// Rotates every pair on by `delta` positions: in double, then rounded to float.
void rotate_key(std::span<float, key_size> key, double delta, PairLayout layout);

// A vector as it is once stored in that precision. int8 and int4 share one scale a vector.
void store_as(std::span<float> vector, Precision precision);

// Numbers that share a step in store_in_groups.
inline constexpr std::size_t payload_group = 8;

// The same with a step per group, and the steps [groups, the last one shorter]. Requires int8 or
// int4. 0 is the step of numbers that are all 0.
std::vector<float> store_in_groups(std::span<float> vector, Precision precision);

// What a key says. Garbage says Token{-1, 0}, no position and an error of 1.
struct KeyReading {
  Token token;
  Place place;
  double position = not_reported;  // a whole number if it is within a quarter of one
  double error = 1;                // |key - exactly rotated key| / |exactly rotated key|
};

struct ValueReading {
  Token token;
  Place place;
};

KeyReading read_key(std::span<const float, key_size> key, PairLayout layout);
ValueReading read_value(std::span<const float, value_size> value);

}  // namespace kv::properties
