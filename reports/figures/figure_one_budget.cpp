#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>

#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/figures/budget_measures.h"
#include "kvcheck/reports/numbers/escape.h"
#include "kvcheck/reports/plot/legend.h"
#include "kvcheck/reports/plot/plot_text.h"

namespace kv::reports {
namespace {

constexpr double least_of_a_row = 16;  // CSS pixels, for letters of 14
constexpr double most_of_a_row = 20;
constexpr double longest_name = 200;   // beside all panels of a row
constexpr double beside_names = 26;    // their distances from the axis and from the edge
constexpr double narrowest = 130;      // a panel whose tics have room
constexpr double apart = 75;           // tics of up to six digits
constexpr double between_panels = 50;  // for the last number of one axis and the first of the next

double shown(const Sweep& sweep, const BudgetMeasure& measure, const Line& line) {
  return measure.of(sweep.specs[line.specs.front()]).mean;
}

// A logarithmic axis needs a decade: with less, it has hardly a tic, and says little that the
// linear one beside it does not.
bool spans_a_decade(const Sweep& sweep,
                    const BudgetMeasure& measure,
                    const std::vector<Line>& lines) {
  double least = INFINITY;
  double most = 0;
  for (const Line& line : lines) {
    const double value = shown(sweep, measure, line);
    if (!(value > 0) || !std::isfinite(value)) continue;
    least = std::min(least, value);
    most = std::max(most, value);
  }
  return most >= 10 * least;
}

// Each measure with the axis that its numbers need; lost mass only if it has one of its own.
std::vector<BudgetMeasure> panels_of(const Sweep& sweep, const std::vector<Line>& lines) {
  std::vector<BudgetMeasure> panels;
  for (BudgetMeasure measure : measures_of(sweep, lines)) {
    measure.logarithmic = measure.logarithmic && spans_a_decade(sweep, measure, lines);
    if (!measure.lost || measure.logarithmic) panels.push_back(measure);
  }
  return panels;
}

std::vector<Line> best_first(const Sweep& sweep,
                             std::vector<Line> lines,
                             const BudgetMeasure& measure) {
  const auto rank = [&](const Line& line) {
    const double value = shown(sweep, measure, line);
    return std::isnan(value) ? -INFINITY : value;
  };
  std::ranges::stable_sort(lines, std::greater<>(), rank);
  return lines;
}

// The names of the lines beside their rows, cut so that they fit.
std::string names_beside(const std::vector<Line>& lines, bool show, double width) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::string name = show ? lines[i].label : "";
    // A name of this very width may differ in its last bit from the margin made for it.
    for (std::size_t n = display_width(name); legend_text_width(name) > width + 0.1; --n) {
      name = shortened(lines[i].label, n);
    }
    names.push_back(gnuplot_quoted(name) + " " + std::to_string(i));
  }
  return "set ytics (" + join(names, ", ") + ") noenhanced\nset yrange [" +
         shortest(static_cast<double>(lines.size()) - 0.5) + ":-0.5]\n";
}

// Errors begin at zero, and shares end at one.
std::string axis_of(const Sweep& sweep,
                    const std::vector<Line>& lines,
                    const BudgetMeasure& measure,
                    double pixels) {
  const std::string label = "set xlabel " + gnuplot_quoted(measure.label) + "\n";
  if (measure.logarithmic) {
    return label + "set logscale x\nset format x '10^{%L}'\nset xrange [*:*]\nset xtics autofreq\n";
  }
  double least = 1;
  double most = 0;
  for (const Line& line : lines) {
    const Interval value = measure.of(sweep.specs[line.specs.front()]);
    for (const double end : {value.low, value.mean, value.high}) {  // no ends without seeds
      if (!std::isfinite(end)) continue;
      least = std::min(least, end);
      most = std::max(most, end);
    }
  }
  const int tics = std::max(2, static_cast<int>(pixels / apart));
  const bool share = measure.metric != &AfterLossSummary::output_error;
  return label + "unset logscale x\nset format x '%g'\n" +
         (share ? "set xrange [*:1]\n" + share_tics('x', least, tics)
                : "set xrange [0:*]\n" + round_tics('x', most, tics));
}

// Rows become lower first; then the last panels are given up, and then the last lines.
void fit_height(Grid& grid, std::vector<Line>& lines) {
  grid.lower_to_a_page(0, least_of_a_row * static_cast<double>(lines.size()));
  const double over = static_cast<double>(grid.height()) - grid.page.height;
  if (grid.page.height <= 0 || over <= 0) return;
  grid.panel_height = std::max(least_of_a_row, grid.panel_height - over);
  lines.resize(static_cast<std::size_t>(grid.panel_height / least_of_a_row));
}

Grid grid_of(const Sweep& sweep, std::size_t panels, std::vector<Line>& lines) {
  double names = 0;
  for (const Line& line : lines) names = std::max(names, legend_text_width(line.label));
  Grid grid{.panels = panels,
            .columns = std::min<std::size_t>(2, panels),
            .panel_width = 300,
            .left = std::min(names, longest_name) + beside_names,
            .top = 14,
            .gap = between_panels,
            .row_gap = 56,
            .may_end = true};
  grid.page = sweep.page;
  if (grid.page.width > 0) {
    const auto width_of = [&](double columns) {
      return (grid.page.width - grid.left - grid.right - (columns - 1) * grid.gap) / columns;
    };
    if (grid.columns == 2 && width_of(2) < narrowest) grid.columns = 1;
    grid.panel_width = std::max(narrowest, width_of(static_cast<double>(grid.columns)));
  }
  grid.panel_height = most_of_a_row * static_cast<double>(lines.size());
  fit_height(grid, lines);
  return grid;
}

// One block of numbers a line, which a curve of points and one of bars show in its row.
std::string rows_of(const Sweep& sweep,
                    const std::vector<Line>& lines,
                    const BudgetMeasure& measure,
                    FigureData& data) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const SpecSummary& spec = sweep.specs[lines[i].specs.front()];
    const Interval value = measure.of(spec);
    const std::string block = data.begin(lines[i].label, measure.name);
    if (!std::isfinite(value.mean) || (measure.logarithmic && !(value.mean > 0))) continue;
    data.row({static_cast<double>(spec.spec.budget), value.mean, value.low, value.high});
    const std::string row = "(" + std::to_string(i) + ")";
    if (!measure.logarithmic && value.low < value.high) {
      parts.push_back(block + " using 3:" + row + ":($4-$3):(0) with vectors nohead lc rgb '" +
                      std::string(lines[i].look.colour) + "' lw 2 notitle");
    }
    parts.push_back(block + " using 2:" + row + " with points" + " lc rgb '" +
                    std::string(lines[i].look.colour) + "' lw 2 pt " +
                    std::to_string(lines[i].look.point) + " ps 1" + curve_title(lines[i].label));
  }
  return "plot " + join(parts, ", ") + "\n";
}

}  // namespace

Figure one_budget_figure(const Sweep& sweep, const std::vector<Line>& all) {
  const std::string budget = sweep.specs[all.front().specs.front()].spec.budget_text();
  Figure figure{
      .name = "budget", .title = "What is kept and lost at a budget of " + budget, .caption = {}};
  std::vector<BudgetMeasure> measures = panels_of(sweep, all);
  std::vector<Line> lines = best_first(sweep, all, measures.front());
  const std::size_t policies = lines.size();
  Grid grid = grid_of(sweep, measures.size(), lines);
  const std::string without = keep_first(grid.panels, measures);
  figure.width = grid.width();
  figure.height = grid.height();
  figure.body = "set multiplot\nunset key\n" + plain_axes() +
                "set grid xtics ytics lc rgb '#e4e4e4' lw 1 dt 1\n";
  FigureData data({"measure", "budget", "mean", "low", "high"});
  for (std::size_t i = 0; i < measures.size(); ++i) {
    figure.body += grid.place(i) +
                   names_beside(lines, grid.first_in_row(i), grid.left - beside_names) +
                   axis_of(sweep, lines, measures[i], grid.panel_width) +
                   rows_of(sweep, lines, measures[i], data);
  }
  data.finish(figure);
  figure.caption =
      drawn_of(lines.size(), policies) + without + measures_caption(sweep, measures, lines, "");
  return figure;
}

}  // namespace kv::reports
