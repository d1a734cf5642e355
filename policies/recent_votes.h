// What the last queries paid each resident: what policies with a window of voting queries keep.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "policies/rows.h"

namespace kv {

// State: 4 window bytes per resident.
class RecentVotes {
 public:
  // Requires window >= 1.
  explicit RecentVotes(std::size_t window) : window_(window) { KV_CHECK(window >= 1); }

  // The next query's attention: [residents], by rank, its own token last. Cost: O(residents).
  void add(std::span<const float> mass) {
    KV_CHECK(mass.size() >= residents());
    votes_.resize(mass.size() * window_);
    const std::size_t slot = queries_++ % window_;
    for (std::size_t rank = 0; rank < mass.size(); ++rank) {
      votes_[rank * window_ + slot] = mass[rank];
    }
  }

  // What the window's queries paid each of the `count` residents from a rank on. The view holds
  // until the next call. Requires first + count <= residents(). Cost: O(count window).
  std::span<const double> sums(std::size_t first, std::size_t count) {
    KV_CHECK(first + count <= residents());
    sums_.assign(count, 0);
    for (std::size_t i = 0; i < count; ++i) {
      const float* const votes = votes_.data() + (first + i) * window_;
      for (std::size_t slot = 0; slot < window_; ++slot) {
        sums_[i] += static_cast<double>(votes[slot]);
      }
    }
    return sums_;
  }

  void forget(std::span<const std::size_t> ranks) { erase_rows(votes_, ranks, window_); }

  [[nodiscard]] std::size_t residents() const { return votes_.size() / window_; }

  // Queries that the window holds.
  [[nodiscard]] std::size_t voters() const {
    return static_cast<std::size_t>(std::min<std::uint64_t>(queries_, window_));
  }

  void save(ByteWriter& writer) const {
    writer.put(queries_);
    writer.put(votes_);
  }

  void load(ByteReader& reader) {
    queries_ = reader.get<std::uint64_t>();
    reader.get(votes_);
  }

 private:
  std::size_t window_;
  std::uint64_t queries_ = 0;  // observed so far
  std::vector<float> votes_;   // [residents, window], by rank: of query q in slot q % window
  std::vector<double> sums_;   // scratch
};

// pooled[i]: the largest, or the sum, of the values within `reach` of i.
inline void pool_neighbours(std::span<const double> values,
                            std::size_t reach,
                            bool largest,
                            std::vector<double>& pooled) {
  const std::size_t n = values.size();
  pooled.assign(n, 0);
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t last = std::min(n - 1, i + reach);
    for (std::size_t j = i - std::min(i, reach); j <= last; ++j) {
      pooled[i] = largest ? std::max(pooled[i], values[j]) : pooled[i] + values[j];
    }
  }
}

}  // namespace kv
