// What each recorded query of a trace stands for in the means of a cell, and the intervals that
// follow from how the queries were selected.
//
// A trace may record some of its queries only (traces/query_sample.h). Evictions do not depend on
// which these are, unless the policy looks at queries or at attention; so a metric is a fixed
// number of each query, and its mean over all is estimated as in a survey:
//
//   drawn K of every N   each block is a stratum. Its recorded queries count N_h / n_h each. With
//                        s_h^2 the variance within it, the variance of the sum over all queries is
//                        the sum of N_h^2 (1 - n_h / N_h) s_h^2 / n_h. The interval is Student's,
//                        with Satterthwaite's degrees of freedom. Strata of one recorded query are
//                        joined with their neighbours, which makes the interval wider.
//   every n-th           as if each two neighbours had been drawn from the queries that they stand
//                        for. No interval of a regular selection is exact: this one is too wide
//                        where the metric changes slowly along the stream, and too narrow if it
//                        oscillates with the same step.
//   spans                certain: each counts once.
//
// The queries before a cell's first loss lose nothing, so they are known without being recorded.
// The stratum in which the loss begins is divided there: given how many recorded queries its later
// part has, these are a sample of that part.
//
// Source: Cochran, "Sampling Techniques", 3rd edition (1977), sections 5.3, 5.4 (equation 5.16),
// 5A.12 (joined strata), 5A.9 (strata divided after the draw) and 8.11 (regular selection).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "kvcheck/base/position.h"
#include "kvcheck/traces/trace.h"

namespace kv {

class QueryWeights {
 public:
  // Recorded queries of which one interval's variance is computed. The members' numbers are rows.
  struct Group {
    double population = 0;  // how many queries they stand for
    std::size_t recorded = 0;
  };

  static constexpr std::uint32_t no_group = std::numeric_limits<std::uint32_t>::max();

  // Before `first` nothing is lost. Of a trace with all queries every query counts once.
  QueryWeights(const TraceInfo& info, Position first);

  // How many queries the recorded one of that row stands for; above 0.
  [[nodiscard]] double weight(std::size_t row) const {
    return weights_.empty() ? 1 : weights_[row];
  }

  // Whether the row is part of the sums; the others are among known().
  [[nodiscard]] bool counts(std::size_t row) const { return row >= first_row_; }

  // How many queries are known to lose nothing. NaN if no recorded query stands for the others.
  [[nodiscard]] double known() const { return known_; }

  // Of how many queries the means are: all of the stream, or the recorded ones if these were not
  // selected in a way that speaks for the others.
  [[nodiscard]] double total() const { return total_; }

  // The row's group; no_group if the query is certain.
  [[nodiscard]] std::uint32_t group(std::size_t row) const { return groups_of_rows_[row]; }

  [[nodiscard]] const std::vector<Group>& groups() const { return groups_; }

 private:
  struct Part {
    double population = 0;
    std::vector<std::size_t> rows{};
  };

  void weigh_drawn(const TraceInfo& info);
  void weigh_regular(const TraceInfo& info);
  void weigh(std::vector<Part> parts);
  void join_into_groups(const std::vector<Part>& parts);

  Position first_ = 0;
  std::size_t first_row_ = 0;
  double known_ = 0;
  double total_ = 0;
  std::vector<double> weights_;
  std::vector<std::uint32_t> groups_of_rows_;
  std::vector<Group> groups_;
};

// What a replay measures at one query.
using Measured = std::array<double, 4>;

// The half widths of the 95 % intervals of means over queries. Add every row that counts, in order.
class SamplingError {
 public:
  // The weights outlive it.
  explicit SamplingError(const QueryWeights& weights) : weights_(&weights) {}

  void add(std::size_t row, const Measured& values);

  // NaN where one query alone stands for others, or a quantity was not measured.
  [[nodiscard]] Measured half_widths();

 private:
  // The sums of one quantity.
  struct Sums {
    double mean = 0;          // of the open group
    double squares = 0;       // of deviations from it
    double variance = 0;      // of the sum over all queries
    double over_degrees = 0;  // of squared variances of groups, each by its degrees of freedom
  };

  void close();
  [[nodiscard]] double half_width(const Sums& sums) const;

  const QueryWeights* weights_;
  std::uint32_t open_ = QueryWeights::no_group;
  double count_ = 0;  // of the open group
  std::array<Sums, 4> sums_{};
};

}  // namespace kv
