// Figures of a uniformity run: inclusion by position, and the pair matrix. They use nothing but the
// counted numbers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kvcheck/reports/plot/figure.h"

namespace kv::reports {

// The counts over `streams` streams. In each of them n tokens entered the middle and k are kept.
struct UniformityPlot {
  std::string label;  // the spec
  std::uint64_t streams = 0;
  std::uint32_t first_position = 0;  // of the first token that entered
  std::uint32_t capacity = 0;        // k
  std::vector<std::uint64_t> kept;   // [n], streams that kept each token

  // Half the width of the band around k/n. Any of the n shares is outside it with a probability of
  // at most 5 %.
  double band = 0;

  // [n * n] by row: a pair's share of streams divided by its expected share. Empty: no matrix.
  std::vector<double> pair_ratio;
};

// Shares by position with the simultaneous band around k/n. Neighbours are averaged if there are
// more than 512.
Figure uniformity_inclusion_figure(const UniformityPlot& plot);

// The pair matrix. The figure has no body if there is no matrix.
Figure uniformity_pairs_figure(const UniformityPlot& plot);

// Draws both into `folder`, which is created if it does not exist, with a CSV file beside each:
// uniformity-inclusion and uniformity-pairs.
Result<void> draw_uniformity(const UniformityPlot& plot, const std::string& folder);

}  // namespace kv::reports
