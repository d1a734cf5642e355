// Figures of a uniformity run: inclusion by position, and the pair matrix. They know numbers only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kvcheck/reports/plot/figure.h"

namespace kv::reports {

// What was counted over `streams` streams of which n tokens entered the middle and k stay.
struct UniformityPlot {
  std::string label;  // the spec
  std::uint64_t streams = 0;
  std::uint32_t first_position = 0;  // of the first token that entered
  std::uint32_t capacity = 0;        // k
  std::vector<std::uint64_t> kept;   // [n], streams that kept each token

  // Half the width of the band around k/n that all n shares leave with 5 % at most.
  double band = 0;

  // [n * n], a pair's share of streams over its expected one, by row; empty: no matrix.
  std::vector<double> pair_ratio;
};

// Shares by position with the simultaneous band around k/n; neighbours are averaged where there are
// more than 512.
Figure uniformity_inclusion_figure(const UniformityPlot& plot);

// The pair matrix. Without a body if there is no matrix.
Figure uniformity_pairs_figure(const UniformityPlot& plot);

// Draws both into `folder`, made if it is not there, with a CSV beside each: uniformity-inclusion
// and uniformity-pairs.
Result<void> draw_uniformity(const UniformityPlot& plot, const std::string& folder);

}  // namespace kv::reports
