// Compares what rotates f16 keys with the emulation, bit by bit, and its arithmetic with exact
// integers.
#pragma once

#include <cstdint>
#include <string>

#include "kvcheck/tests/fp16/rotations.h"

namespace kv::fp16 {

struct Comparison {
  std::string name;
  std::uint64_t results = 0;       // f16 numbers compared with the emulation
  std::uint64_t different = 0;     // of these
  std::uint64_t outside = 0;       // bytes written that belong to no rotated pair
  std::uint64_t exact = 0;         // f16 numbers compared with exact integers
  std::uint64_t exact_differ = 0;  // of these
  std::uint64_t checksum = 0;      // of the emulation's results: the same on every machine
  std::string first{};             // the first difference in words; empty if there is none

  [[nodiscard]] bool agrees() const { return different + outside + exact_differ == 0; }
};

// Rows of 0 to `most_pairs` pairs in both layouts, with 0 to 3 numbers more in a row, 0 to 3 bytes
// off their alignment, and any of 7 rows in any order. Whole buffers are compared, so that nothing
// else may change.
Comparison compare_shapes(const Rotate& tried, std::size_t most_pairs);

// Rows and angles of 1 to 40 pairs that end where an unmapped page begins. Lanes behind the last
// pair must not be read or written: if they are, the process dies.
Comparison compare_beside_unmapped_pages(const Rotate& tried);

// `calls` times `row_of_pairs` pairs of Inputs. One of `exact_every` calls is compared with exact
// integers too.
Comparison compare_random(const Rotate& tried, std::size_t calls, std::size_t exact_every);
inline constexpr std::size_t row_of_pairs = 4096;

// Every finite f16 as the real or the imaginary part of a key, for `lists` choices of the other
// numbers; all with exact integers.
Comparison compare_every_number(const Rotate& tried, std::size_t lists);

}  // namespace kv::fp16
