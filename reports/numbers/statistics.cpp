#include "kvcheck/reports/numbers/statistics.h"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <cstdint>
#include <functional>
#include <mutex>
#include <numeric>
#include <utility>
#include <vector>

#include "kvcheck/base/check.h"
#include "kvcheck/base/random/rng.h"

namespace kv::reports {
namespace {

constexpr double upper_tail = 0.975;

// A fixed seed, so that a report has the same bytes each time it is written.
void draw_signs(std::size_t text, std::size_t first, std::span<std::int8_t> signs) {
  for (std::size_t i = 0; i < signs.size(); ++i) {
    const Rng rng(1, static_cast<std::uint32_t>(first + i));
    signs[i] = rng.below(2, static_cast<Position>(text)) == 1 ? 1 : -1;
  }
}

// Ranks from 1 on; equal values have their mean rank.
std::vector<double> ranks_of(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return values[i]; });
  std::vector<double> ranks(values.size());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin + 1;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    const double mean = static_cast<double>(begin + 1 + end) / 2;
    for (; begin < end; ++begin) ranks[order[begin]] = mean;
  }
  return ranks;
}

}  // namespace

Interval t_interval(std::span<const double> values) {
  if (values.empty()) return {};
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  if (!std::isfinite(mean) || values.size() < 2) return {.mean = mean};
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const double t = boost::math::quantile(boost::math::students_t(n - 1), upper_tail);
  const double half = t * std::sqrt(squares / (n - 1) / n);
  return {.mean = mean, .low = mean - half, .high = mean + half};
}

Interval wilson_interval(double hits, std::size_t trials, double z) {
  if (trials == 0) return {};
  const auto n = static_cast<double>(trials);
  const double share = hits / n;
  const double centre = (share + z * z / (2 * n)) / (1 + z * z / n);
  const double half =
      z / (1 + z * z / n) * std::sqrt(share * (1 - share) / n + z * z / (4 * n * n));
  return {.mean = share, .low = std::max(0.0, centre - half), .high = std::min(1.0, centre + half)};
}

Interval share_interval(std::uint64_t hits, std::uint64_t trials) {
  KV_CHECK(hits <= trials);
  return wilson_interval(static_cast<double>(hits), trials, deviations_of_95);
}

Interval share_interval(std::span<const double> shares) {
  return wilson_interval(std::accumulate(shares.begin(), shares.end(), 0.0), shares.size(),
                         deviations_of_95);
}

DrawnSigns::DrawnSigns(std::size_t texts) {
  constexpr std::size_t most = std::size_t{1} << 25U;  // bytes
  if (texts > most / draws) return;
  static std::mutex mutex;
  static std::shared_ptr<const std::vector<std::int8_t>> newest;
  const std::lock_guard lock(mutex);
  if (newest == nullptr || newest->size() < texts * draws) {
    auto table = std::make_shared<std::vector<std::int8_t>>(texts * draws);
    for (std::size_t text = 0; text < texts; ++text) {
      draw_signs(text, 0, std::span(*table).subspan(text * draws, draws));
    }
    newest = std::move(table);
  }
  table_ = newest;
}

std::span<const std::int8_t> DrawnSigns::of_text(std::size_t text,
                                                 std::size_t first,
                                                 std::size_t count) {
  if (table_ != nullptr) return std::span(*table_).subspan(text * draws + first, count);
  one_.resize(count);
  draw_signs(text, first, one_);
  return one_;
}

double paired_flips(std::span<const double> a, std::span<const double> b) {
  KV_CHECK(a.size() == b.size());
  constexpr std::size_t countable = 16;
  std::vector<double> differences(a.size());
  std::ranges::transform(a, b, differences.begin(), std::minus<>());
  const double seen = std::abs(std::accumulate(differences.begin(), differences.end(), 0.0));
  // Sums of the same differences in another sign pattern round differently; patterns that are as
  // far in exact arithmetic must count.
  const double slack = 1e-12 * std::max(1.0, seen);
  if (differences.size() <= countable) {
    const std::uint64_t patterns = std::uint64_t{1} << differences.size();
    std::uint64_t far = 0;
    for (std::uint64_t signs = 0; signs < patterns; ++signs) {
      double sum = 0;
      for (std::size_t i = 0; i < differences.size(); ++i) {
        sum += (signs >> i & 1U) != 0 ? differences[i] : -differences[i];
      }
      far += std::abs(sum) >= seen - slack ? 1U : 0U;
    }
    return static_cast<double>(far) / static_cast<double>(patterns);
  }
  DrawnSigns drawn(differences.size());
  std::vector<double> sums(DrawnSigns::draws);
  for (std::size_t i = 0; i < differences.size(); ++i) {
    const auto signs = drawn.of_text(i);
    for (std::size_t draw = 0; draw < sums.size(); ++draw) {
      sums[draw] += static_cast<double>(signs[draw]) * differences[i];
    }
  }
  const auto far =
      std::ranges::count_if(sums, [&](double sum) { return std::abs(sum) >= seen - slack; });
  // The observed pattern counts as one of the draws, so that the p-value is never 0.
  return static_cast<double>(far + 1) / static_cast<double>(DrawnSigns::draws + 1);
}

std::vector<double> holm(std::span<const double> values, std::size_t tests) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isnan(values[i])) order.push_back(i);
  }
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return values[i]; });
  std::vector<double> out(values.begin(), values.end());
  double least = 0;
  const std::size_t all = std::max(tests, order.size());
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const double score = values[order[rank]] * static_cast<double>(all - rank);
    // A larger p-value must not be corrected to less than the one before it.
    least = std::max(least, std::min(1.0, score));
    out[order[rank]] = least;
  }
  return out;
}

double rank_correlation(std::span<const double> a, std::span<const double> b) {
  KV_CHECK(a.size() == b.size());
  const std::vector<double> ranks_a = ranks_of(a);
  const std::vector<double> ranks_b = ranks_of(b);
  const double mean = static_cast<double>(a.size() + 1) / 2;
  double both = 0;
  double squares_a = 0;
  double squares_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    both += (ranks_a[i] - mean) * (ranks_b[i] - mean);
    squares_a += (ranks_a[i] - mean) * (ranks_a[i] - mean);
    squares_b += (ranks_b[i] - mean) * (ranks_b[i] - mean);
  }
  if (squares_a == 0 || squares_b == 0) return not_measured;
  return both / std::sqrt(squares_a * squares_b);
}

}  // namespace kv::reports
