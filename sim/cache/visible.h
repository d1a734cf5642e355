// Visible: the positions that one query attends to, and the arithmetic of ranks over them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "kvcheck/base/position.h"

namespace kv {

// Three runs in stream order, the query's own position last. A position's rank is its index in that
// order.
struct Visible {
  Run sinks;
  std::span<const Position> middle;  // strictly increasing
  Run recent;

  [[nodiscard]] std::size_t size() const { return sinks.size() + middle.size() + recent.size(); }

  // Requires rank < size().
  [[nodiscard]] Position position_of(std::size_t rank) const {
    if (rank < sinks.size()) return static_cast<Position>(sinks.first + rank);
    rank -= sinks.size();
    if (rank < middle.size()) return middle[rank];
    return static_cast<Position>(recent.first + rank - middle.size());
  }

  // Cost: O(log middle).
  [[nodiscard]] bool contains(Position position) const {
    const auto within = [position](const Run& run) {
      return run.first <= position && position < run.last;
    };
    return within(sinks) || within(recent) || std::ranges::binary_search(middle, position);
  }
};

// Calls visit(position) for each visible position, in stream order.
template <typename Visit>
void for_each_position(const Visible& visible, const Visit& visit) {
  for (Position p = visible.sinks.first; p < visible.sinks.last; ++p) visit(p);
  for (const Position p : visible.middle) visit(p);
  for (Position p = visible.recent.first; p < visible.recent.last; ++p) visit(p);
}

// Calls visit(first, count, rank) for each run of consecutive positions among the sinks and the
// middle: `count` positions from `first` on, whose ranks begin at `rank`. Within a run the distance
// between position and rank is constant. The recent run is not visited: the query is its last
// position, so distances within it are those of attention without evictions.
template <typename Visit>
void for_each_run_before_recent(const Visible& visible, const Visit& visit) {
  const std::size_t sinks = visible.sinks.size();
  const auto& middle = visible.middle;
  if (sinks > 0) visit(visible.sinks.first, sinks, std::size_t{0});
  for (std::size_t i = 0, end = 0; i < middle.size(); i = end) {
    for (end = i + 1; end < middle.size() && middle[end] == middle[end - 1] + 1; ++end) continue;
    visit(middle[i], end - i, sinks + i);
  }
}

}  // namespace kv
