#include <algorithm>
#include <array>
#include <string_view>

#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/figures/figures.h"
#include "kvcheck/reports/plot/legend.h"
#include "kvcheck/reports/plot/plot_text.h"

namespace kv::reports {
namespace {

constexpr std::size_t zoom_tokens = 200;

// Policies whose caches had the same sizes at every point share one curve.
struct Curve {
  Look look;
  const CellResult* cell = nullptr;
  std::vector<std::string> labels;
};

bool same_sizes(const CellResult& a, const CellResult& b) {
  const auto same = [](const SeriesPoint& x, const SeriesPoint& y) {
    return x.first_step == y.first_step && x.stored == y.stored && x.visible == y.visible;
  };
  return std::ranges::equal(a.series, b.series, same);
}

std::vector<Curve> curves_of(const Sweep& sweep) {
  std::vector<Curve> curves;
  for (const Line& line : sweep.lines) {
    const SpecSummary* spec = sweep.at_budget(line);
    if (spec == nullptr) continue;
    const CellResult* cell = sweep.cells(*spec)[0];
    if (cell->series.empty()) continue;
    const auto same = [&](const Curve& curve) { return same_sizes(*curve.cell, *cell); };
    auto curve = std::ranges::find_if(curves, same);
    if (curve == curves.end()) {
      curves.push_back({.look = line.look, .cell = cell, .labels = {}});
      curve = curves.end() - 1;
    }
    curve->labels.push_back(line.label);
  }
  return curves;
}

std::string title_of(const Curve& curve) {
  const std::size_t more = curve.labels.size() - 1;
  if (more == 0) return curve.labels[0];
  return curve.labels[0] + " and " + std::to_string(more) + (more == 1 ? " other" : " others");
}

// A curve that several policies share has no policy's colour and dash. Here few curves are left, so
// that those of policies that are grey elsewhere get a colour.
void distinguish(std::vector<Curve>& curves) {
  constexpr std::array<std::string_view, 4> dashes = {"1", "(8,4)", "(2,3)", "(8,3,2,3)"};
  std::size_t shared = 0;
  std::vector<std::string_view> used;
  for (const Curve& curve : curves) {
    if (curve.labels.size() == 1) used.push_back(curve.look.colour);
  }
  for (Curve& curve : curves) {
    if (curve.labels.size() > 1) {
      curve.look = {.colour = "#666666", .dash = dashes.at(shared++ % dashes.size())};
    } else if (const std::string_view free = free_colour(used); curve.look.quiet && !free.empty()) {
      curve.look = {.colour = free};
      used.push_back(free);
    }
  }
}

// The highest value of a bounded curve; a dense curve may leave the figure.
double ceiling_of(const std::vector<Curve>& curves) {
  double bounded = 0;
  double any = 0;
  for (const Curve& curve : curves) {
    for (const SeriesPoint& point : curve.cell->series) {
      any = std::max(any, point.stored);
      if (curve.cell->cell.spec.bounded()) bounded = std::max(bounded, point.stored);
    }
  }
  return 1.15 * (bounded > 0 ? bounded : any);
}

bool leaves_the_top(const std::vector<Curve>& curves) {
  const double ceiling = ceiling_of(curves);
  return std::ranges::any_of(curves, [&](const Curve& curve) {
    const auto& series = curve.cell->series;
    return std::ranges::any_of(series, [&](const auto& point) { return point.stored > ceiling; });
  });
}

std::string together(const std::vector<Curve>& curves) {
  std::string text;
  for (const Curve& curve : curves) {
    if (curve.labels.size() < 2) continue;
    text += " One curve stands for " + join(curve.labels, ", ") + ", whose sizes were equal.";
  }
  return text;
}

}  // namespace

Figure sizes_figure(const Sweep& sweep) {
  Figure figure{.name = "sizes", .title = "Stored and visible rows over the stream", .caption = {}};
  std::vector<Curve> curves = curves_of(sweep);
  if (curves.empty()) return figure;
  distinguish(curves);
  FigureData data({"first_step", "stored", "visible"});
  std::vector<std::string> whole;
  std::vector<std::string> zoom;
  std::vector<Line> entries;
  for (const Curve& curve : curves) {
    const std::string block = data.begin(title_of(curve));
    for (const SeriesPoint& point : curve.cell->series) {
      data.row({static_cast<double>(point.first_step), point.stored, point.visible});
    }
    const std::string colour = " lc rgb '" + std::string(curve.look.colour) + "'";
    const std::string line = colour + " dt " + std::string(curve.look.dash) + " lw 2";
    whole.push_back(block + " using 1:2 with steps" + line + " notitle");
    zoom.push_back(block + " using 1:2 with steps" + line + " notitle");
    zoom.push_back(block + " using 1:3 every 6 with points pt 6 ps 0.6 lw 1" + colour + " notitle");
    entries.push_back(
        {.label = title_of(curve), .policy = nullptr, .look = curve.look, .specs = {}});
  }
  data.finish(figure);
  const std::size_t tokens = sweep.result->trace.tokens;
  const std::size_t from = tokens > zoom_tokens ? (tokens - zoom_tokens) / 2 : 0;
  Grid grid{
      .panels = 2, .columns = 2, .panel_width = 320, .panel_height = 260, .gap = labelled_gap};
  grid.fit(sweep.page);
  const std::string legend = add_legend(entries, grid, Swatch::line);
  figure.width = grid.width();
  figure.height = grid.height();
  figure.body =
      "set multiplot\n" + plain_axes() + query_axis(grid, tokens) +
      "set yrange [0:" + shortest(ceiling_of(curves)) + "]\n" + legend + grid.place(0) +
      "set ylabel 'rows stored per unit'\nset xrange [0:" + std::to_string(tokens) + "]\nplot " +
      join(whole, ", ") + "\n" + std::string(legend_done) + grid.place(1) +
      query_axis(grid, zoom_tokens) +
      axis_label('y', true,
                 fitting(grid.panel_height + 2 * grid.top,
                         {"rows stored (line), visible (circles)", "rows, visible as circles"})) +
      "set xrange [" + std::to_string(from) + ":" +
      std::to_string(std::min(tokens, from + zoom_tokens)) + "]\nplot " + join(zoom, ", ") + "\n";
  figure.caption =
      "Rows of one unit's cache while attending, mean over units, at budget " +
      std::to_string(sweep.budget) +
      "; right, a part of the stream enlarged, where circles "
      "show what a query sees, at every sixth point." +
      (leaves_the_top(curves) ? " The dense cache, which grows on, leaves the picture at the top."
                              : "") +
      (sweep.result->series_width > 1 ? " Each point is the mean over " +
                                            std::to_string(sweep.result->series_width) + " queries."
                                      : "") +
      together(curves) + " Replay of " + subject_of(*sweep.result) + ".";
  return figure;
}

}  // namespace kv::reports
