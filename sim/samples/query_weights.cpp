#include "kvcheck/sim/samples/query_weights.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <utility>

namespace kv {
namespace {

constexpr double upper_tail = 0.975;

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

}  // namespace

QueryWeights::QueryWeights(const TraceInfo& info, Position first) {
  total_ = static_cast<double>(recorded_queries(info));
  if (!samples_queries(info)) return;
  first_ = static_cast<Position>(std::min<std::size_t>(first, info.tokens));
  first_row_ = static_cast<std::size_t>(std::ranges::lower_bound(info.queries, first_) -
                                        info.queries.begin());
  known_ = static_cast<double>(first_);
  total_ = static_cast<double>(info.tokens);
  weights_.assign(info.queries.size(), 1);
  groups_of_rows_.assign(info.queries.size(), no_group);
  if (info.query_design->drawn > 0) {
    weigh_drawn(info);
  } else {
    weigh_regular(info);
  }
}

void QueryWeights::weigh_drawn(const TraceInfo& info) {
  const QueryDesign& design = *info.query_design;
  std::vector<Part> parts;
  std::size_t row = first_row_;
  const auto rest_of_block = [&](std::size_t at) { return design.block - at % design.block; };
  for (std::size_t at = first_; at < info.tokens; at += rest_of_block(at)) {
    const std::size_t end = std::min(info.tokens, at + rest_of_block(at));
    Part part{.population = static_cast<double>(outside_spans(design, at, end))};
    for (; row < info.queries.size() && info.queries[row] < end; ++row) {
      if (!in_spans(design, info.queries[row])) part.rows.push_back(row);
    }
    if (part.population > 0) parts.push_back(std::move(part));
  }
  weigh(std::move(parts));
}

// Each two neighbours are a part; the last has three if their number is odd.
void QueryWeights::weigh_regular(const TraceInfo& info) {
  const QueryDesign& design = *info.query_design;
  std::vector<std::size_t> rows;
  for (std::size_t row = first_row_; row < info.queries.size(); ++row) {
    if (!in_spans(design, info.queries[row])) rows.push_back(row);
  }
  const auto population = static_cast<double>(outside_spans(design, first_, info.tokens));
  std::vector<Part> parts;
  if (rows.empty() && population > 0) parts.push_back({.population = population});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i % 2 == 0 && i + 1 < rows.size()) parts.emplace_back();
    if (parts.empty()) parts.emplace_back();
    parts.back().rows.push_back(rows[i]);
    parts.back().population += population / static_cast<double>(rows.size());
  }
  weigh(std::move(parts));
}

// A part without a recorded query is counted with the next one, the last ones with the one before.
void QueryWeights::weigh(std::vector<Part> parts) {
  std::vector<Part> recorded;
  double left = 0;
  for (Part& part : parts) {
    left += part.population;
    if (part.rows.empty()) continue;
    part.population = std::exchange(left, 0);
    recorded.push_back(std::move(part));
  }
  if (recorded.empty()) {
    if (left > 0) known_ = unknown;
    return;
  }
  recorded.back().population += left;
  for (const Part& part : recorded) {
    const double weight = part.population / static_cast<double>(part.rows.size());
    for (const std::size_t row : part.rows) weights_[row] = weight;
  }
  join_into_groups(recorded);
}

void QueryWeights::join_into_groups(const std::vector<Part>& parts) {
  bool open = false;
  for (const Part& part : parts) {
    const auto size = static_cast<double>(part.rows.size());
    if (part.population <= size) continue;  // all of them are recorded
    if (!open) groups_.emplace_back();
    groups_.back().population += part.population;
    groups_.back().recorded += part.rows.size();
    for (const std::size_t row : part.rows) {
      groups_of_rows_[row] = static_cast<std::uint32_t>(groups_.size() - 1);
    }
    open = groups_.back().recorded < 2;
  }
  if (!open || groups_.size() < 2) return;
  // The last has one query alone.
  const Group last = groups_.back();
  groups_.pop_back();
  groups_.back().population += last.population;
  groups_.back().recorded += last.recorded;
  for (std::uint32_t& group : groups_of_rows_) {
    if (group == groups_.size()) --group;
  }
}

void SamplingError::add(std::size_t row, const Measured& values) {
  const std::uint32_t group = weights_->group(row);
  if (group == QueryWeights::no_group || !weights_->counts(row)) return;
  if (group != open_) close();
  open_ = group;
  ++count_;
  for (std::size_t i = 0; i < values.size(); ++i) {
    // Welford's update, which loses no digits where values are nearly equal.
    const double step = values[i] - sums_[i].mean;
    sums_[i].mean += step / count_;
    sums_[i].squares += step * (values[i] - sums_[i].mean);
  }
}

void SamplingError::close() {
  if (open_ == QueryWeights::no_group) return;
  const double population = weights_->groups()[open_].population;
  for (Sums& sums : sums_) {
    const double spread = sums.squares / (count_ - 1);
    const double variance = population * (population - count_) * spread / count_;
    sums.variance += variance;
    sums.over_degrees += variance * variance / (count_ - 1);
    sums.mean = sums.squares = 0;
  }
  count_ = 0;
}

double SamplingError::half_width(const Sums& sums) const {
  if (sums.variance == 0) return 0;
  if (!std::isfinite(sums.variance)) return unknown;
  const double degrees = sums.variance * sums.variance / sums.over_degrees;
  const double t = boost::math::quantile(boost::math::students_t(degrees), upper_tail);
  return t * std::sqrt(sums.variance) / weights_->total();
}

Measured SamplingError::half_widths() {
  close();
  open_ = QueryWeights::no_group;
  if (!std::isfinite(weights_->known())) {
    return {unknown, unknown, unknown, unknown};
  }
  return {half_width(sums_[0]), half_width(sums_[1]), half_width(sums_[2]), half_width(sums_[3])};
}

}  // namespace kv
