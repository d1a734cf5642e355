// The cache written the obvious way, for comparison: plain lists of positions, one rule at a time.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include "kvcheck/policies/policy.h"
#include "kvcheck/sim/cache/unit_cache.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv {

class ReferenceCache {
 public:
  using RowOf = std::function<std::vector<float>(const std::vector<Position>&, Position)>;

  ReferenceCache(const Spec& spec, std::unique_ptr<Draws> draws)
      : spec_(spec), draws_(std::move(draws)), policy_(spec.policy->make(spec.options)) {}

  std::vector<std::vector<Position>> feed(std::size_t chunk, const RowOf& row_of) {
    if (spec_.timing == Timing::trim_then_attend) {
      if (spec_.visibility == Visibility::causal) leave_until(seen_ + chunk, seen_);
      free_rows();
    }
    std::vector<std::vector<Position>> rows;
    const Position first = seen_;
    for (std::size_t i = 0; i < chunk; ++i) residents_.push_back(seen_++);
    for (Position query = first; query < seen_; ++query) {
      if (spec_.visibility == Visibility::window) leave_until(query + 1, query + 1);
      std::vector<Position> row;
      for (const Position p : residents_) {
        if (p <= query) row.push_back(p);
      }
      if (policy_->needs().attention) {
        const std::vector<float> mass = row_of(row, query);
        policy_->observe({query, mass});
      }
      rows.push_back(row);
    }
    const std::size_t slack = spec_.timing == Timing::lazy ? spec_.slack : 0;
    if (spec_.timing != Timing::trim_then_attend && stored() > spec_.budget + slack) {
      leave_until(seen_, seen_);
      free_rows();
    }
    return rows;
  }

  [[nodiscard]] const std::vector<Position>& residents() const { return residents_; }

  [[nodiscard]] std::size_t stored() const { return residents_.size() + gone_.size(); }

  [[nodiscard]] const TrimCounts& counts() const { return counts_; }

 private:
  // Everything older than the last `recent` of the first `end` positions leaves the recent window.
  void leave_until(std::size_t end, Position exists) {
    std::size_t newcomers = 0;
    while (left_ < exists && left_ + spec_.recent < end) {
      if (left_ >= spec_.sinks) {
        ++entered_;
        ++newcomers;
      }
      ++left_;
      if (policy_->leaving() == Leaving::one_by_one && newcomers > 0) {
        settle(newcomers);
        newcomers = 0;
      }
    }
    if (newcomers > 0) settle(newcomers);
  }

  // Evicts from the middle until it fits.
  void settle(std::size_t newcomers) {
    std::vector<Position> middle;
    for (const Position p : residents_) {
      if (p >= spec_.sinks && p < left_) middle.push_back(p);
    }
    const std::size_t capacity = spec_.middle();
    if (middle.size() <= capacity) return;
    std::vector<std::size_t> victims;
    const auto sinks = static_cast<std::size_t>(
        std::ranges::count_if(residents_, [&](Position p) { return p < spec_.sinks; }));
    if (capacity == 0) {
      for (std::size_t i = 0; i < middle.size(); ++i) victims.push_back(i);
    } else {
      policy_->evict({middle, newcomers, capacity, sinks, entered_}, *draws_, victims);
    }
    std::vector<std::size_t> ranks;
    for (const std::size_t victim : victims) ranks.push_back(sinks + victim);
    policy_->forget(ranks);
    for (const std::size_t victim : victims) {
      gone_.push_back(middle[victim]);
      std::erase(residents_, middle[victim]);
    }
  }

  // Rows stored contiguously and in order: what stands behind the first gap moves.
  void free_rows() {
    if (gone_.empty()) return;
    ++counts_.trims;
    counts_.evicted += gone_.size();
    const Position gap = *std::ranges::min_element(gone_);
    counts_.moved += static_cast<std::uint64_t>(
        std::ranges::count_if(residents_, [&](Position p) { return p > gap; }));
    gone_.clear();
  }

  Spec spec_;
  std::unique_ptr<Draws> draws_;
  std::unique_ptr<Policy> policy_;
  std::vector<Position> residents_;
  std::vector<Position> gone_;
  Position seen_ = 0;
  std::size_t left_ = 0;  // positions below it have left the recent window
  std::uint64_t entered_ = 0;
  TrimCounts counts_;
};

}  // namespace kv
