// Simulated streams of the uniform law: what a statistic is compared with when its expected counts
// are too few for an approximation.
#pragma once

#include <cstdint>
#include <functional>

#include "kvcheck/properties/statistics/counts.h"

namespace kv::properties {

// `streams` uniform subsets of k among n, drawn by Floyd's method.
// Source: Bentley and Floyd, "A sample of brilliance", Communications of the ACM 30(9), 1987.
Counts null_counts(const Shape& shape,
                   const CountsRequested& requested,
                   std::uint64_t streams,
                   std::uint64_t seed);

// The share of simulated runs of as many streams whose statistic is at least `value`, the observed
// run counted among them: a valid p, though never below one over the number of runs (200 to 2,000).
double simulated_tail(const Counts& observed,
                      double value,
                      const CountsRequested& requested,
                      const std::function<double(const Counts&)>& statistic);

}  // namespace kv::properties
