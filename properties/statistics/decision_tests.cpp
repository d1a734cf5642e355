#include <algorithm>
#include <cmath>
#include <numeric>

#include "kvcheck/base/check.h"
#include "kvcheck/properties/statistics/bins.h"
#include "kvcheck/properties/statistics/chance_tests.h"

namespace kv::properties {
namespace {

constexpr double least_expected = 10;  // of each bin, for chi-square to hold far out in the tail

std::string range_text(const BinRange& bin, std::uint64_t offset) {
  const std::string first = std::to_string(bin.first + offset);
  return bin.size() == 1 ? first : first + " to " + std::to_string(bin.last - 1 + offset);
}

double sum_of(std::span<const double> values, const BinRange& bin) {
  return std::accumulate(values.begin() + static_cast<std::ptrdiff_t>(bin.first),
                         values.begin() + static_cast<std::ptrdiff_t>(bin.last), 0.0);
}

std::uint64_t count_of(std::span<const std::uint64_t> counts, const BinRange& bin) {
  return std::accumulate(counts.begin() + static_cast<std::ptrdiff_t>(bin.first),
                         counts.begin() + static_cast<std::ptrdiff_t>(bin.last), std::uint64_t{0});
}

// Newcomers that must all be kept: a single one evicted refutes the law, with no p to compute.
ChanceTest certain_acceptance(const Counts& counts) {
  const auto accepted = counts.accepted();
  const std::uint64_t asked = counts.reported() * accepted.size();
  const std::uint64_t refused =
      asked - std::accumulate(accepted.begin(), accepted.end(), std::uint64_t{0});
  ChanceTest test{{.name = "TA", .what = "no newcomer may be evicted by its own decision"}};
  test.statistic.value = static_cast<double>(refused);
  test.statistic.p = refused == 0 ? 1 : 0;
  test.set_effect(
      std::to_string(refused) + " of " + std::to_string(asked) + " newcomers were evicted at once",
      exact_bounds(refused, asked, 0.05));
  // The share of refusals at which some refusal is seen with 99 %: (1 - share)^asked = 0.01.
  test.statistic.detectable = -std::log(0.01) / static_cast<double>(asked);
  return test;
}

struct Group {
  BinRange bin;
  double z = 0;
};

void acceptance_effect(const Counts& counts,
                       std::span<const double> in,
                       const std::vector<BinRange>& bins,
                       const Group& farthest,
                       ChanceTest& test) {
  const auto reported = static_cast<double>(counts.reported());
  const auto size = static_cast<double>(farthest.bin.size());
  const std::uint64_t hits = count_of(counts.accepted(), farthest.bin);
  const std::uint64_t asked = counts.reported() * farthest.bin.size();
  const Bounds bounds = exact_bounds(hits, asked, 0.05 / static_cast<double>(bins.size()));
  test.set_effect("newcomer " + range_text(farthest.bin, counts.shape().k + 1) + " is kept in " +
                      percent_text(static_cast<double>(hits) / static_cast<double>(asked)) +
                      " of streams instead of " +
                      percent_text(sum_of(in, farthest.bin) / (reported * size)) + " (" +
                      bounds_text(bounds) + ")",
                  bounds);
}

}  // namespace

std::optional<ChanceTest> acceptance_test(const Counts& counts, ChanceLaw law) {
  if (counts.reported() == 0) return std::nullopt;
  if (law == ChanceLaw::admitting) return certain_acceptance(counts);
  const Shape& shape = counts.shape();
  const auto reported = static_cast<double>(counts.reported());
  std::vector<double> in;
  std::vector<double> out;
  std::vector<double> variance;
  double information = 0;
  for (std::uint32_t t = shape.k + 1; t <= shape.n; ++t) {
    const double share = acceptance(law, shape, t);
    in.push_back(reported * share);
    out.push_back(reported * (1 - share));
    variance.push_back(reported * share * (1 - share));
    // Fisher's information on a factor common to all acceptances.
    information += reported * share / (1 - share);
  }
  const std::vector<BinRange> bins = pooled(in, out, least_expected);
  if (bins.empty()) return std::nullopt;
  ChanceTest test{{.name = "TA",
                   .what = law == ChanceLaw::uniform
                               ? "the t-th token is kept at its own decision with k/t"
                               : "every token is kept at its own decision with k/(k+1)"}};
  Statistic& statistic = test.statistic;
  Group farthest;
  farthest.bin = bins[0];
  for (const BinRange& bin : bins) {
    const double deviation =
        static_cast<double>(count_of(counts.accepted(), bin)) - sum_of(in, bin);
    const double z = deviation / std::sqrt(sum_of(variance, bin));
    statistic.value += z * z;
    if (std::abs(z) > std::abs(farthest.z)) farthest = {bin, z};
  }
  statistic.freedom = static_cast<double>(bins.size());
  statistic.p = chi_square_tail(statistic.value, statistic.freedom);
  acceptance_effect(counts, in, bins, farthest, test);
  test.per_root = 1 / std::sqrt(information);
  return test;
}

std::optional<ChanceTest> age_rank_test(const Counts& counts) {
  const auto ranks = counts.ranks();
  const std::uint64_t gone = std::accumulate(ranks.begin(), ranks.end(), std::uint64_t{0});
  if (ranks.size() < 2 || gone == 0) return std::nullopt;
  const double expected = static_cast<double>(gone) / static_cast<double>(ranks.size());
  const std::vector<double> in(ranks.size(), expected);
  const std::vector<BinRange> bins = pooled(in, in, least_expected);
  if (bins.size() < 2) return std::nullopt;
  ChanceTest test{{.name = "TE", .what = "the evicted older token is any of the k alike, by age"}};
  Statistic& statistic = test.statistic;
  Group farthest;
  farthest.bin = bins[0];
  for (const BinRange& bin : bins) {
    const double requested = expected * static_cast<double>(bin.size());
    const double z = (static_cast<double>(count_of(ranks, bin)) - requested) / std::sqrt(requested);
    statistic.value += z * z;
    if (std::abs(z) > std::abs(farthest.z)) farthest = {bin, z};
  }
  // One less than in TA: the ranks add up to the evicted older tokens.
  statistic.freedom = static_cast<double>(bins.size()) - 1;
  statistic.p = chi_square_tail(statistic.value, statistic.freedom);
  const std::uint64_t hits = count_of(ranks, farthest.bin);
  const Bounds bounds = exact_bounds(hits, gone, 0.05 / static_cast<double>(bins.size()));
  test.set_effect("of the older tokens by age, number " + range_text(farthest.bin, 1) + " of " +
                      std::to_string(ranks.size()) + " is evicted in " +
                      percent_text(static_cast<double>(hits) / static_cast<double>(gone)) +
                      " of cases instead of " +
                      percent_text(static_cast<double>(farthest.bin.size()) /
                                   static_cast<double>(ranks.size())) +
                      " (" + bounds_text(bounds) + ")",
                  bounds);
  test.per_root = 1 / std::sqrt(static_cast<double>(gone));
  return test;
}

}  // namespace kv::properties
