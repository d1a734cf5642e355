// What a benchmark's bytes are compared with: reading the same bytes and doing nothing with them.
#pragma once

#include <chrono>
#include <cstddef>
#include <limits>
#include <vector>

#include "kvcheck/base/kernels/kernels.h"

namespace kv {

// Reads the bytes in that many streams, four kilobytes of each in turn, and tests them for zero.
// One core waits for a limited number of cache lines of a stream, so that several streams may be
// read faster than one.
inline bool read_in_streams(const std::byte* from, std::size_t bytes, std::size_t streams) {
  constexpr std::size_t piece = 4096;
  const std::size_t part = bytes / streams / piece * piece;
  bool any = false;
  for (std::size_t at = 0; at < part; at += piece) {
    for (std::size_t stream = 0; stream < streams; ++stream) {
      any = kernels().any_bit(from + stream * part + at, piece, 0) || any;
    }
  }
  return kernels().any_bit(from + streams * part, bytes - streams * part, 0) || any;
}

// The number of streams, of 1, 2, 4 and 8, in which 512 MiB are read fastest on this machine. It is
// measured once.
inline std::size_t fastest_streams() {
  static const std::size_t fastest = [] {
    const std::vector<std::byte> memory(std::size_t{512} << 20, std::byte{1});
    double least = std::numeric_limits<double>::infinity();
    std::size_t best = 1;
    bool any = false;
    for (int round = 0; round < 3; ++round) {
      for (const std::size_t streams : {1U, 2U, 4U, 8U}) {
        const auto begun = std::chrono::steady_clock::now();
        any = read_in_streams(memory.data(), memory.size(), streams) || any;
        const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begun;
        if (any && time.count() < least) {
          least = time.count();
          best = streams;
        }
      }
    }
    return best;
  }();
  return fastest;
}

// The bytes, read in the number of streams that is fastest.
inline bool read_fastest(const std::byte* from, std::size_t bytes) {
  return read_in_streams(from, bytes, fastest_streams());
}

}  // namespace kv
