#include "kvcheck/reports/numbers/paired.h"

#include <algorithm>
#include <array>
#include <bit>
#include <boost/math/distributions/students_t.hpp>
#include <boost/sort/spreadsort/integer_sort.hpp>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iterator>
#include <numeric>

#include "kvcheck/base/check.h"

namespace kv::reports {
namespace {

constexpr double tail = 0.025;

double deviation_of(std::span<const double> values, double mean) {
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

constexpr double slack = 1e-12;

double scale_of(const std::vector<std::vector<double>>& columns, const Contrast& contrast) {
  double squares = 0;
  for (std::size_t text = 0; text < columns[contrast.of].size(); ++text) {
    const double other = contrast.against == Contrast::zero ? 0 : columns[contrast.against][text];
    const double d = columns[contrast.of][text] - other;
    squares += d * d;
  }
  return std::sqrt(squares);
}

// So many sign patterns side by side.
constexpr std::size_t side_by_side = 64;
using SideBySide = std::array<double, side_by_side>;

// Calls use(sums) with the sum of each column under every pattern of signs, [columns][patterns], a
// few patterns at a time; `signs_of(text, first)` has the text's sign in those from `first` on.
template <typename SignsOf, typename Use>
void for_each_pattern(const std::vector<std::vector<double>>& columns,
                      std::size_t patterns,
                      const SignsOf& signs_of,
                      const Use& use) {
  const std::size_t texts = columns.empty() ? 0 : columns.front().size();
  std::vector<SideBySide> sums(columns.size());
  for (std::size_t first = 0; first < patterns; first += side_by_side) {
    std::ranges::fill(sums, SideBySide());
    for (std::size_t text = 0; text < texts; ++text) {
      const SideBySide signs = signs_of(text, first);
      for (std::size_t column = 0; column < columns.size(); ++column) {
        const double value = columns[column][text];
        for (std::size_t i = 0; i < side_by_side; ++i) sums[column][i] += signs[i] * value;
      }
    }
    use(sums, std::min(side_by_side, patterns - first));
  }
}

// The statistic of a contrast whose columns have these sums.
double statistic_of(double of, double against, double scale) {
  return scale == 0 ? 0.0 : std::abs(of - against) / scale;
}

// The largest statistic of all contrasts under each pattern.
SideBySide largest_of(const std::vector<SideBySide>& sums,
                      std::span<const Contrast> contrasts,
                      std::span<const double> scales) {
  constexpr SideBySide zeros{};
  SideBySide most{};
  for (std::size_t c = 0; c < contrasts.size(); ++c) {
    const auto& [of, against] = contrasts[c];
    const SideBySide& others = against == Contrast::zero ? zeros : sums[against];
    for (std::size_t i = 0; i < side_by_side; ++i) {
      most[i] = std::max(most[i], statistic_of(sums[of][i], others[i], scales[c]));
    }
  }
  return most;
}

struct Patterns {
  std::uint64_t tried = 0;
  std::uint64_t observed = 0;  // 1: the observed pattern counts as one more
};

// All patterns of +1 and -1, or drawn ones where they are many. Whether all signs change makes no
// difference, so that the last sign of a counted pattern is fixed.
template <typename Use>
Patterns for_each_signs(const std::vector<std::vector<double>>& columns, const Use& use) {
  const std::size_t texts = columns.empty() ? 0 : columns.front().size();
  if (texts <= counted_texts) {
    const std::size_t patterns = std::size_t{1} << (texts == 0 ? 0 : texts - 1);
    const auto counted = [&](std::size_t text, std::size_t first) {
      SideBySide signs{};
      for (std::size_t i = 0; i < side_by_side; ++i) {
        const bool plus = text + 1 == texts || ((first + i) >> text & 1U) != 0;
        signs[i] = plus ? 1.0 : -1.0;
      }
      return signs;
    };
    for_each_pattern(columns, patterns, counted, use);
    return {.tried = patterns};
  }
  DrawnSigns drawn(texts);
  const auto of_draws = [&](std::size_t text, std::size_t first) {
    const std::size_t count = std::min<std::size_t>(side_by_side, DrawnSigns::draws - first);
    SideBySide signs{};
    std::ranges::copy(drawn.of_text(text, first, count), signs.begin());
    return signs;
  };
  for_each_pattern(columns, DrawnSigns::draws, of_draws, use);
  return {.tried = DrawnSigns::draws, .observed = 1};
}

// The sums of each column under all patterns; the observed one is the first.
std::vector<std::vector<double>> sums_of_patterns(const std::vector<std::vector<double>>& columns) {
  std::vector<std::vector<double>> sums;
  for (const auto& own : columns) sums.push_back({std::accumulate(own.begin(), own.end(), 0.0)});
  for_each_signs(columns, [&](const std::vector<SideBySide>& some, std::size_t count) {
    for (std::size_t column = 0; column < sums.size(); ++column) {
      std::copy_n(some[column].begin(), count, std::back_inserter(sums[column]));
    }
  });
  return sums;
}

// The statistic under each pattern, before the pattern's number: as bits of a float, which have the
// order of the statistics, and which are equal where only rounding differs.
void list_statistics(const std::vector<std::vector<double>>& sums,
                     const Contrast& contrast,
                     double scale,
                     std::vector<std::uint64_t>& far) {
  for (std::size_t i = 0; i < far.size(); ++i) {
    const double other = contrast.against == Contrast::zero ? 0 : sums[contrast.against][i];
    const auto statistic = static_cast<float>(statistic_of(sums[contrast.of][i], other, scale));
    far[i] = std::uint64_t{std::bit_cast<std::uint32_t>(statistic)} << 32U | i;
  }
}

// Lowers each pattern's count to how many of these statistics are at least its own.
void lower_counts(std::vector<std::uint64_t>& far, std::vector<std::size_t>& counts) {
  boost::sort::spreadsort::integer_sort(far.begin(), far.end());
  std::size_t first = 0;  // of those that are equal
  for (std::size_t i = 0; i < far.size(); ++i) {
    if (far[i] >> 32U != far[first] >> 32U) first = i;
    std::size_t& count = counts[static_cast<std::uint32_t>(far[i])];
    count = std::min(count, far.size() - first);
  }
}

}  // namespace

double detectable_among(const PairedTest& test, std::size_t tests, double level) {
  if (std::isnan(test.detectable) || tests == 0) return test.detectable;
  const boost::math::students_t t(static_cast<double>(test.pairs) - 1);
  const double found = boost::math::quantile(t, 0.8);
  const double alone = boost::math::quantile(t, 1 - tail) + found;
  const double each = level / (2 * static_cast<double>(tests));
  return test.detectable * (boost::math::quantile(boost::math::complement(t, each)) + found) /
         alone;
}

PairedTest paired_test(std::span<const double> differences, double margin) {
  KV_CHECK(margin >= 0);
  PairedTest test{.pairs = differences.size(),
                  .same = std::ranges::count(differences, 0.0) == std::ssize(differences),
                  .difference = bootstrap_interval(differences)};
  if (differences.size() < fewest_pairs) return test;
  const std::vector<double> zeros(differences.size());
  test.p = paired_flips(differences, zeros);
  const auto n = static_cast<double>(differences.size());
  const double mean = test.difference.mean;
  const double error = deviation_of(differences, mean) / std::sqrt(n);
  const boost::math::students_t t(n - 1);
  test.detectable = (boost::math::quantile(t, 1 - tail) + boost::math::quantile(t, 0.8)) * error;
  if (error == 0) {
    test.outside_margin_p = std::abs(mean) < margin ? 0 : 1;
    return test;
  }
  const double below = boost::math::cdf(boost::math::complement(t, (mean + margin) / error));
  const double above = boost::math::cdf(t, (mean - margin) / error);
  test.outside_margin_p = std::max(below, above);
  return test;
}

std::vector<double> largest_flips(const std::vector<std::vector<double>>& columns,
                                  std::span<const Contrast> contrasts) {
  std::vector<double> scales;
  for (const Contrast& contrast : contrasts) scales.push_back(scale_of(columns, contrast));
  std::vector<double> totals;
  for (const auto& own : columns) totals.push_back(std::accumulate(own.begin(), own.end(), 0.0));
  std::vector<double> seen;
  for (std::size_t c = 0; c < contrasts.size(); ++c) {
    const auto& [of, against] = contrasts[c];
    const double other = against == Contrast::zero ? 0 : totals[against];
    seen.push_back(statistic_of(totals[of], other, scales[c]));
  }
  std::vector<std::uint64_t> as_far(contrasts.size());
  const auto patterns = for_each_signs(columns, [&](const auto& sums, std::size_t count) {
    const SideBySide most = largest_of(sums, contrasts, scales);
    // Sums in another sign pattern round differently; see paired_flips.
    for (std::size_t c = 0; c < contrasts.size(); ++c) {
      const double least = seen[c] - slack;
      for (std::size_t i = 0; i < count; ++i) as_far[c] += most[i] >= least ? 1U : 0U;
    }
  });
  std::vector<double> p;
  for (std::size_t c = 0; c < contrasts.size(); ++c) {
    const auto far = static_cast<double>(as_far[c] + patterns.observed);
    p.push_back(scales[c] == 0 ? 1 : far / static_cast<double>(patterns.tried + patterns.observed));
  }
  return p;
}

std::vector<double> least_flips(const std::vector<std::vector<double>>& columns,
                                std::span<const Contrast> contrasts) {
  const std::vector<std::vector<double>> sums = sums_of_patterns(columns);
  const std::size_t patterns = sums.empty() ? 1 : sums.front().size();
  std::vector<std::uint64_t> far(patterns);
  // How many patterns are at least as far as the observed one.
  std::vector<std::size_t> seen;
  for (const Contrast& contrast : contrasts) {
    list_statistics(sums, contrast, scale_of(columns, contrast), far);
    const std::uint64_t least = far.front();
    seen.push_back(static_cast<std::size_t>(
        std::ranges::count_if(far, [least](std::uint64_t one) { return one >= least; })));
  }
  std::vector<std::size_t> order(contrasts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t c) { return seen[c]; });
  // Under each pattern: the least count of the contrasts so far.
  std::vector<std::size_t> counts(patterns, patterns);
  std::vector<double> p(contrasts.size());
  for (const std::size_t c : order) {
    list_statistics(sums, contrasts[c], scale_of(columns, contrasts[c]), far);
    lower_counts(far, counts);
    const auto below = std::ranges::count_if(counts, [&](std::size_t n) { return n <= seen[c]; });
    p[c] = static_cast<double>(below) / static_cast<double>(patterns);
  }
  for (std::size_t i = order.size(); i-- > 1;) {
    p[order[i - 1]] = std::max(p[order[i - 1]], p[order[i]]);
  }
  return p;
}

std::vector<double> corrected_flips(const std::vector<std::vector<double>>& columns,
                                    std::span<const Contrast> contrasts) {
  const bool few = columns.empty() || columns.front().size() <= counted_texts;
  return few ? largest_flips(columns, contrasts) : least_flips(columns, contrasts);
}

std::vector<Finding> findings_of(std::span<const PairedTest> tests,
                                 std::span<const double> p,
                                 std::span<const double> outside_margin_p,
                                 double level) {
  std::vector<Finding> findings;
  for (std::size_t i = 0; i < tests.size(); ++i) {
    if (tests[i].same) {
      findings.push_back(Finding::same);
    } else if (tests[i].pairs < fewest_pairs) {
      findings.push_back(Finding::few);
    } else if (outside_margin_p[i] <= level) {
      findings.push_back(Finding::equal);
    } else if (p[i] <= level) {
      findings.push_back(tests[i].difference.mean > 0 ? Finding::higher : Finding::lower);
    } else {
      findings.push_back(Finding::not_shown);
    }
  }
  return findings;
}

}  // namespace kv::reports
