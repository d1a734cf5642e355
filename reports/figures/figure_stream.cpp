#include <algorithm>
#include <cmath>

#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/figures/figures.h"
#include "kvcheck/reports/plot/legend.h"
#include "kvcheck/reports/plot/plot_text.h"

namespace kv::reports {
namespace {

constexpr std::size_t most_points = 32;

struct Bin {
  double first = 0;
  double mass = 0;
  double error = 0;
};

// Means over runs of neighbouring points and over seeds. A last run that is shorter is left out,
// because its mean would vary more than the others.
std::vector<Bin> bins_of(const std::vector<const CellResult*>& cells, std::size_t per_bin) {
  std::vector<Bin> bins;
  std::size_t points = cells[0]->series.size();
  for (const CellResult* cell : cells) points = std::min(points, cell->series.size());
  const double share = 1.0 / static_cast<double>(per_bin * cells.size());
  for (std::size_t begin = 0; begin + per_bin <= points; begin += per_bin) {
    Bin bin{.first = static_cast<double>(cells[0]->series[begin].first_step)};
    for (const CellResult* cell : cells) {
      for (std::size_t i = begin; i < begin + per_bin; ++i) {
        bin.mass += share * cell->series[i].retained_mass;
        bin.error += share * cell->series[i].output_error;
      }
    }
    bins.push_back(bin);
  }
  return bins;
}

// A line with markers at every eighth point. Each policy has its markers at different points, so
// that none hides another.
std::string curve(const Line& line, const std::string& data, std::size_t i) {
  const Look& look = line.look;
  return data + " with lines" + line_style(look) + curve_title(line.label) + ", " + data +
         " every 8::" + std::to_string(i % 8) + " with points" + point_style(look) + " notitle";
}

}  // namespace

Figure stream_figure(const Sweep& sweep) {
  Figure figure{.name = "stream", .title = "Retained mass over the stream", .caption = {}};
  std::vector<Line> shown;
  std::size_t points = 0;
  for (const Line& line : in_drawing_order(sweep.lines)) {
    const SpecSummary* spec = sweep.at_budget(line);
    if (spec == nullptr || !spec->spec.bounded()) continue;
    shown.push_back(line);
    points = std::max(points, sweep.cells(*spec)[0]->series.size());
  }
  if (points == 0) return figure;
  const std::size_t per_bin = (points + most_points - 1) / most_points;
  const double width =
      static_cast<double>(per_bin) * static_cast<double>(sweep.result->series_width);
  FigureData data({"middle_step", "retained_mass", "output_error"});
  std::vector<std::string> left;
  std::vector<std::string> right;
  bool errors = false;
  for (const Line& line : shown) {
    const std::string block = data.begin(line.label);
    for (const Bin& bin : bins_of(sweep.cells(*sweep.at_budget(line)), per_bin)) {
      data.row({bin.first + width / 2, bin.mass, bin.error});
      errors = errors || std::isfinite(bin.error);
    }
    left.push_back(curve(line, block + " using 1:2", left.size()));
    right.push_back(curve(line, block + " using 1:3", right.size()));
  }
  data.finish(figure);
  Grid grid{.panels = errors ? 2U : 1U,
            .columns = errors ? 2U : 1U,
            .panel_width = errors ? 320.0 : 640.0,
            .panel_height = 300,
            .gap = labelled_gap};
  grid.fit(sweep.page);
  const std::string legend = add_legend(shown, grid);
  figure.width = grid.width();
  figure.height = grid.height();
  figure.body = "set multiplot\n" + plain_axes() + query_axis(grid, sweep.result->trace.tokens) +
                "set xrange [0:" + std::to_string(sweep.result->trace.tokens) +
                "]\nset grid ytics lc rgb '#e4e4e4' lw 1\n" + legend + grid.place(0) +
                "set ylabel 'retained mass'\nset yrange [*:1]\nplot " + join(left, ", ") + "\n";
  if (errors) {
    figure.title = "Retained mass and output error over the stream";
    figure.body += std::string(legend_done) + grid.place(1) +
                   fitting_ylabel(grid, {"relative output error", "output error"}) +
                   "set yrange [0:*]\nplot " + join(right, ", ") + "\n";
  }
  figure.caption = "Every point is the mean over " + shortest(width) +
                   " consecutive queries, all query heads and all seeds, at budget " +
                   std::to_string(sweep.budget) + ". Open-loop replay of " +
                   subject_of(*sweep.result) + ".";
  return figure;
}

}  // namespace kv::reports
