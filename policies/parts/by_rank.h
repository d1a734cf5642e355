// Scores kept by rank: the two steps that every ranking policy shares.
//
// While a cache trims, scores stand still, and (score, rank) is a strict order. So naming the
// lowest of all newcomers and residents in one call leaves the same tokens as releasing the
// newcomers one by one and dropping the lowest each time: a token among the k highest of all is
// among the k highest of every part that holds it, hence never dropped, and k tokens stay either
// way. Ranking policies may therefore ask for Leaving::in_bulk, which is cheaper.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace kv {

// Appends the indices of the `count` lowest scores, increasing; among equals the older (lower
// index) goes first. Requires count <= n and no NaN. Cost: O(n), plus sorting `count` indices; a
// plain scan for count = 1.
void append_lowest(std::span<const float> scores,
                   std::size_t count,
                   std::vector<std::size_t>& victims);
void append_lowest(std::span<const double> scores,
                   std::size_t count,
                   std::vector<std::size_t>& victims);

// For tokens that stay or go in blocks of `length`: the members of the blocks with the lowest
// scores, as few blocks as leave the others and the `rest` tokens behind them within `capacity`. In
// order, and among equals the older goes first. Requires length >= 1. Cost: as above.
void append_lowest_blocks(std::span<const double> scores,
                          std::size_t length,
                          std::size_t rest,
                          std::size_t capacity,
                          std::vector<std::size_t>& victims);

// Scores by which the newest `newcomers` of n go before all others: of policies that chose once.
void score_newcomers_lowest(std::size_t n, std::size_t newcomers, std::vector<double>& scores);

// sums[i] += mass[i], in double. Requires as many sums as masses.
void add_mass(std::span<double> sums, std::span<const float> mass);

// Removes the values at `ranks` (strictly increasing), keeping the order of the rest. Ranks beyond
// the end are tokens that were never observed and have no value.
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
