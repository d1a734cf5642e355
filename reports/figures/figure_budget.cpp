#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/figures/budget_measures.h"
#include "kvcheck/reports/figures/figures.h"
#include "kvcheck/reports/plot/legend.h"
#include "kvcheck/reports/plot/plot_text.h"

namespace kv::reports {
namespace {

bool bounded(const Sweep& sweep, const Line& line) {
  return sweep.specs[line.specs[0]].spec.bounded();
}

// More bars than this at one place hide each other.
constexpr std::size_t most_bars = 8;

std::set<std::uint32_t> budgets_of(const Sweep& sweep) {
  std::set<std::uint32_t> budgets;
  for (const SpecSummary& spec : sweep.specs) {
    if (spec.spec.bounded()) budgets.insert(spec.spec.budget);
  }
  return budgets;
}

std::string bars_of(const std::string& block, const Look& look) {
  return block + " using 1:3:(0):($4-$3) with vectors nohead lc rgb '" + std::string(look.colour) +
         "' lw 1.2 notitle";
}

std::string means_of(const std::string& block, const Line& line) {
  return block + " using 1:2 with linespoints" + point_style(line.look) + curve_title(line.label);
}

// The plot command of one measure over all lines.
std::string curves(const Sweep& sweep,
                   const std::vector<Line>& lines,
                   const BudgetMeasure& measure,
                   FigureData& data) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string block = data.begin(lines[i].label, measure.name);
    for (const std::size_t s : lines[i].specs) {
      const SpecSummary& spec = sweep.specs[s];
      const Interval value = measure.of(spec);
      if (measure.logarithmic && !(value.mean > 0)) continue;
      if (!std::isfinite(value.mean)) continue;
      data.row({static_cast<double>(spec.spec.budget), value.mean, value.low, value.high});
    }
    if (!measure.logarithmic && lines.size() <= most_bars) {
      parts.push_back(bars_of(block, lines[i].look));
    }
    parts.push_back(means_of(block, lines[i]));
  }
  return "plot " + join(parts, ", ") + "\n";
}

// The least number that a curve or a bar shows.
double lowest_of(const Sweep& sweep, const std::vector<Line>& lines, const BudgetMeasure& measure) {
  double lowest = 1;
  for (const Line& line : lines) {
    for (const std::size_t s : line.specs) {
      const Interval value = measure.of(sweep.specs[s]);
      // A policy that draws nothing has no interval: fmin() passes over NaN, min() may not.
      const double shown =
          lines.size() <= most_bars ? std::fmin(value.low, value.mean) : value.mean;
      if (std::isfinite(shown)) lowest = std::min(lowest, shown);
    }
  }
  return lowest;
}

// Whether some cache had lost attention, of which all measures are.
bool lost_any(const Sweep& sweep, const std::vector<Line>& lines) {
  return std::ranges::any_of(lines, [&](const Line& line) {
    return std::ranges::any_of(line.specs, [&](std::size_t s) {
      return std::isfinite(sweep.specs[s].after.retained_mass.mean);
    });
  });
}

}  // namespace

Figure budget_figure(const Sweep& sweep) {
  Figure figure{.name = "budget", .title = "What is kept and lost against budget", .caption = {}};
  std::vector<Line> lines;
  std::ranges::copy_if(in_drawing_order(sweep.lines), std::back_inserter(lines),
                       [&](const Line& line) { return bounded(sweep, line); });
  if (lines.empty() || !lost_any(sweep, lines)) return figure;
  if (budgets_of(sweep).size() == 1) return one_budget_figure(sweep, lines);
  std::vector<BudgetMeasure> measures = measures_of(sweep, lines);
  Grid grid{.panels = measures.size(),
            .columns = 2,
            .panel_width = 340,
            .panel_height = 260,
            .gap = labelled_gap,
            .row_gap = 50,
            .may_end = true};
  grid.fit(sweep.page);
  const std::string legend = add_legend(lines, grid);
  const std::string without = keep_first(grid.panels, measures);
  figure.width = grid.width();
  figure.height = grid.height();
  figure.body = "set multiplot\n" + plain_axes() + "set logscale x 2\n" +
                budget_axis(budgets_of(sweep)) + "set grid ytics lc rgb '#e4e4e4' lw 1 dt 1\n" +
                legend;
  FigureData data({"measure", "budget", "mean", "low", "high"});
  for (std::size_t i = 0; i < measures.size(); ++i) {
    const BudgetMeasure& measure = measures[i];
    figure.body +=
        grid.place(i) + fitting_ylabel(grid, {measure.label, measure.short_label}) +
        axis_label('x', true, "budget, tokens") +
        (measure.logarithmic ? "set logscale y\nset format y '10^{%L}'\nset yrange [*:*]\n" +
                                   std::string(automatic_tics)
                             : "unset logscale y\nset format y '%g'\nset yrange [*:1]\n" +
                                   share_tics('y', lowest_of(sweep, lines, measure))) +
        curves(sweep, lines, measure, data) + std::string(legend_done);
  }
  data.finish(figure);
  figure.caption = without + measures_caption(sweep, measures, lines, " of up to eight policies");
  return figure;
}

}  // namespace kv::reports
