// Tail probabilities, what they can detect, and exact intervals. Boost.Math does the numbers.
#pragma once

#include <cstdint>
#include <string>

namespace kv::properties {

// P(chi-square with `freedom` degrees >= x). Requires freedom > 0.
double chi_square_tail(double x, double freedom);

// P(|standard normal| >= |z|).
double normal_tail(double z);

// Twice the smaller tail of the binomial law at `hits`, at most 1. Exact.
double binomial_tail(std::uint64_t hits, std::uint64_t trials, double share);

// The non-centrality at which a test at `level` rejects with probability `power`: of chi-square
// with `freedom` degrees; with freedom 0, of a squared normal deviate tested on both sides.
double noncentrality(double freedom, double level, double power);

// The share that hits/trials estimates, between exact bounds.
struct Bounds {
  double low = 0;
  double high = 1;
};

// Clopper and Pearson's interval, which misses the true share with at most `error`.
Bounds exact_bounds(std::uint64_t hits, std::uint64_t trials, double error);

// "28.1 % to 33.9 %".
std::string bounds_text(const Bounds& bounds);

// "p = 3.2e-12", "p < 1e-300", "p = 0.41".
std::string p_text(double p);

// Two or three digits that matter: "0.0513", "12.4 %".
std::string number_text(double value);
std::string percent_text(double share);

}  // namespace kv::properties
