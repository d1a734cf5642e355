#include "kvcheck/reports/plot/position_plot.h"

#include <algorithm>

#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/plot/plot_text.h"

namespace kv::reports {
namespace {

constexpr std::size_t most_points = 32;

// Lines with markers at every eighth point. Each curve has its markers at different points.
std::string curve_text(const PositionCurve& curve, const std::string& block, std::size_t i) {
  const Look& look = curve.look;
  return block + " using 1:2 with lines" + line_style(look) + curve_title(curve.label) + ", " +
         block + " using 1:2 every 8::" + std::to_string(i % 8) + " with points" +
         point_style(look) + " notitle";
}

}  // namespace

std::size_t targets_of_point(std::size_t longest, std::size_t step) {
  const std::size_t steps = (longest + step - 1) / step;
  return std::max<std::size_t>(1, (steps + most_points - 1) / most_points) * step;
}

std::vector<LossPoint> runs_of(std::span<const LossPoint> series, std::size_t width) {
  std::vector<LossPoint> runs;
  for (const LossPoint& point : series) {
    const std::size_t first = point.first / width * width;
    if (runs.empty() || runs.back().first != first) runs.push_back({.first = first});
    runs.back().targets += point.targets;
    runs.back().nats += point.nats;
  }
  if (runs.size() > 1 && 2 * runs.back().targets < width) runs.pop_back();
  return runs;
}

std::vector<std::string> position_columns() {
  return {"middle_target", "perplexity"};
}

std::string position_panel(std::span<const PositionCurve> curves,
                           std::size_t width,
                           FigureData& data,
                           std::string_view panel) {
  std::vector<std::string> parts;
  for (const PositionCurve& curve : curves) {
    const std::string block = data.begin(curve.label, panel);
    for (const LossPoint& run : runs_of(curve.series, width)) {
      const double middle = static_cast<double>(run.first) + static_cast<double>(width) / 2;
      data.row({middle, perplexity_of(run.nats, run.targets)});
    }
    parts.push_back(curve_text(curve, block, parts.size()));
  }
  return "plot " + join(parts, ", ");
}

}  // namespace kv::reports
