// The mass that the last queries paid each resident, for policies with a window of voting queries.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "kvcheck/base/bytes.h"
#include "kvcheck/base/check.h"
#include "kvcheck/policies/parts/rows.h"

namespace kv {

// State: 4 bytes per resident and slot. There are 32 slots at first, and up to `window` later.
class RecentVotes {
 public:
  // Requires window >= 1.
  explicit RecentVotes(std::size_t window) : window_(window) { KV_CHECK(window >= 1); }

  // Adds the next query's attention: [residents], by rank, its own token last. Cost: O(residents).
  void add(std::span<const float> mass) {
    KV_CHECK(mass.size() >= residents());
    if (queries_ >= width_ && width_ < window_) widen();
    votes_.resize(mass.size() * width_);
    const std::size_t slot = queries_++ % window_;
    for (std::size_t rank = 0; rank < mass.size(); ++rank) {
      votes_[rank * width_ + slot] = mass[rank];
    }
  }

  // For each of `count` residents from rank `first` on, the sum of the mass that the window's
  // queries paid it. The view holds until the next call. Requires first + count <= residents().
  // Cost: O(count * window).
  std::span<const double> sums(std::size_t first, std::size_t count) {
    KV_CHECK(first + count <= residents());
    add_votes(first, count, [](float vote, std::size_t) { return static_cast<double>(vote); });
    return sums_;
  }

  // The same for the shares that each of the queries paid them of what it paid to all of these
  // residents. The view holds until the next call. Cost: O(count * window).
  std::span<const double> sums_of_shares(std::size_t first, std::size_t count) {
    KV_CHECK(first + count <= residents());
    totals_.assign(width_, 0);
    for (std::size_t i = 0; i < count; ++i) {
      const float* const votes = votes_.data() + (first + i) * width_;
      for (std::size_t slot = 0; slot < width_; ++slot) {
        totals_[slot] += static_cast<double>(votes[slot]);
      }
    }
    for (double& total : totals_) total = total > 0 ? 1 / total : 0;
    add_votes(first, count, [this](float vote, std::size_t slot) {
      return static_cast<double>(vote) * totals_[slot];
    });
    return sums_;
  }

  void forget(std::span<const std::size_t> ranks) { erase_rows(votes_, ranks, width_); }

  [[nodiscard]] std::size_t residents() const { return votes_.size() / width_; }

  // The number of queries that the window holds.
  [[nodiscard]] std::size_t voters() const {
    return static_cast<std::size_t>(std::min<std::uint64_t>(queries_, window_));
  }

  void save(ByteWriter& writer) const {
    writer.put(queries_);
    writer.put(width_);
    writer.put(votes_);
  }

  void load(ByteReader& reader) {
    queries_ = reader.get<std::uint64_t>();
    width_ = std::clamp<std::size_t>(reader.get<std::size_t>(), 1, window_);
    reader.get(votes_);
  }

 private:
  // Sets the sum of term(vote, slot) of each resident, in the order of the slots. Several sums are
  // computed side by side, because each waits for its last addition.
  template <typename Term>
  void add_votes(std::size_t first, std::size_t count, const Term& term) {
    constexpr std::size_t together = 4;
    sums_.assign(count, 0);
    const auto add = [&]<std::size_t residents>(
                         std::size_t i, std::integral_constant<std::size_t, residents> /*n*/) {
      const float* const votes = votes_.data() + (first + i) * width_;
      std::array<double, residents> sums{};
      for (std::size_t slot = 0; slot < width_; ++slot) {
        for (std::size_t r = 0; r < residents; ++r) sums[r] += term(votes[r * width_ + slot], slot);
      }
      std::ranges::copy(sums, sums_.begin() + static_cast<std::ptrdiff_t>(i));
    };
    std::size_t i = 0;
    for (; i + together <= count; i += together) {
      add(i, std::integral_constant<std::size_t, together>());
    }
    for (; i < count; ++i) add(i, std::integral_constant<std::size_t, 1>());
  }

  // Doubles the number of slots, so that a short stream does not pay for a long window.
  void widen() {
    const std::size_t wider = std::min(window_, 2 * width_);
    std::vector<float> votes(residents() * wider);
    for (std::size_t rank = 0; rank < residents(); ++rank) {
      std::copy_n(votes_.data() + rank * width_, width_, votes.data() + rank * wider);
    }
    votes_ = std::move(votes);
    width_ = wider;
  }

  std::size_t window_;
  std::size_t width_ = std::min<std::size_t>(window_, 32);  // allocated slots
  std::uint64_t queries_ = 0;                               // observed so far
  std::vector<float> votes_;           // [residents, width], by rank; query q has slot q % window
  std::vector<double> sums_, totals_;  // scratch
};

// pooled[i] becomes the largest, or the sum, of the values within `reach` of i.
inline void pool_neighbours(std::span<const double> values,
                            std::size_t reach,
                            bool largest,
                            std::vector<double>& pooled) {
  const std::size_t n = values.size();
  pooled.assign(n, 0);
  const auto pool = [&](const auto& add) {
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t last = std::min(n - 1, i + reach);
      double sum = 0;
      for (std::size_t j = i - std::min(i, reach); j <= last; ++j) sum = add(sum, values[j]);
      pooled[i] = sum;
    }
  };
  if (largest) {
    pool([](double a, double b) { return std::max(a, b); });
  } else {
    pool([](double a, double b) { return a + b; });
  }
}

}  // namespace kv
