// Scores kept by rank: the two steps that every ranking policy shares.
//
// Scores do not change while a cache trims, and (score, rank) is a strict order. Evicting the
// lowest of all newcomers and residents in one call therefore leaves the same tokens as releasing
// the newcomers one by one and evicting the lowest each time. The reason: a token among the k
// highest of all is among the k highest of every subset that holds it, so it is never evicted, and
// k tokens remain either way. Ranking policies may thus ask for Leaving::in_bulk, which is cheaper.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace kv {

// Appends the indices of the `count` lowest scores, increasing. Among equal scores the older token
// (the lower index) is evicted first; a NaN is larger than every number. Requires count <= n. Cost:
// O(n), plus sorting `count` indices; a plain scan for count = 1.
void append_lowest(std::span<const float> scores,
                   std::size_t count,
                   std::vector<std::size_t>& victims);
void append_lowest(std::span<const double> scores,
                   std::size_t count,
                   std::vector<std::size_t>& victims);

// For tokens that are kept or evicted in blocks of `length`: appends the members of the blocks with
// the lowest scores, in increasing order. It takes as few blocks as leave the other blocks and the
// `rest` tokens behind them within `capacity`. Among equal scores the older block is evicted first.
// Requires length >= 1. Cost: as above.
void append_lowest_blocks(std::span<const double> scores,
                          std::size_t length,
                          std::size_t rest,
                          std::size_t capacity,
                          std::vector<std::size_t>& victims);

// Scores that evict the newest `newcomers` of n before all others, for policies that select once.
void score_newcomers_lowest(std::size_t n, std::size_t newcomers, std::vector<double>& scores);

// sums[i] += mass[i], in double. Requires as many sums as masses.
void add_mass(std::span<double> sums, std::span<const float> mass);

// Removes the values at `ranks` (strictly increasing), keeping the order of the rest. Ranks beyond
// the end belong to tokens that were never observed and have no value.
template <typename T>
void erase_ranks(std::vector<T>& values, std::span<const std::size_t> ranks) {
  if (ranks.empty() || ranks.front() >= values.size()) return;
  std::size_t kept = ranks.front();
  for (std::size_t i = 0; i < ranks.size() && ranks[i] < values.size(); ++i) {
    const std::size_t begin = ranks[i] + 1;
    const bool last = i + 1 == ranks.size() || ranks[i + 1] >= values.size();
    const std::size_t end = last ? values.size() : ranks[i + 1];
    std::copy(values.data() + begin, values.data() + end, values.data() + kept);
    kept += end - begin;
  }
  values.resize(kept);
}

}  // namespace kv
