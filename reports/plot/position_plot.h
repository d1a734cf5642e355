// Perplexity against position: the plot that evaluations and logs of other programs share.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "kvcheck/reports/numbers/lines.h"
#include "kvcheck/reports/plot/figure.h"
#include "kvcheck/sim/replay/predictions.h"

namespace kv::reports {

// One line of the plot.
struct PositionCurve {
  std::string label;
  Look look;
  std::span<const LossPoint> series{};  // by first
};

// How many targets each point of the plot stands for: a multiple of `step` such that `longest`
// targets give at most 32 points.
std::size_t targets_of_point(std::size_t longest, std::size_t step);

// The series in runs of `width` positions. A last run with less than half as many is left out,
// because its mean would vary more than the others.
std::vector<LossPoint> runs_of(std::span<const LossPoint> series, std::size_t width);

// The columns of the plot's numbers, without that of the panel.
std::vector<std::string> position_columns();

// The command "plot ..." of all curves, without titles, on the axes that are set. The numbers are
// added to `data`, with the word of the panel if there are several.
std::string position_panel(std::span<const PositionCurve> curves,
                           std::size_t width,
                           FigureData& data,
                           std::string_view panel = {});

}  // namespace kv::reports
