#include <algorithm>
#include <cmath>

#include "base/words.h"
#include "reports/figures.h"
#include "reports/plot_text.h"

namespace kv {
namespace {

using Metric = Interval SpecSummary::*;

bool bounded(const Sweep& sweep, const Line& line) {
  return sweep.specs[line.specs[0]].spec.bounded();
}

// Points of different policies at one budget are set side by side, so that bars can be told apart.
double dodge(std::size_t i, std::size_t n) {
  const double step = static_cast<double>(i) - static_cast<double>(n - 1) / 2;
  return std::exp2(0.035 * step);
}

std::string tics_of(const Sweep& sweep) {
  std::vector<std::uint32_t> budgets;
  for (const SpecSummary& spec : sweep.specs) {
    if (spec.spec.bounded()) budgets.push_back(spec.spec.budget);
  }
  std::ranges::sort(budgets);
  budgets.erase(std::unique(budgets.begin(), budgets.end()), budgets.end());
  std::vector<std::string> words;
  double last = 0;
  for (const std::uint32_t budget : budgets) {
    if (budget < 1.25 * last) continue;
    last = budget;
    words.push_back(std::to_string(budget));
  }
  return "set xtics (" + join(words, ",") + ")\nset xrange [" + shortest(budgets.front() / 1.3) +
         ":" + shortest(budgets.back() * 1.3) + "]\n";
}

// The plot command of one metric over all lines.
std::string curves(const Sweep& sweep,
                   const std::vector<const Line*>& lines,
                   Metric metric,
                   FigureData& data,
                   bool titled) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string block = data.begin(lines[i]->label);
    for (const std::size_t s : lines[i]->specs) {
      const SpecSummary& spec = sweep.specs[s];
      const Interval& value = spec.*metric;
      data.row({static_cast<double>(spec.spec.budget), value.mean, value.low, value.high,
                spec.spec.budget * dodge(i, lines.size())});
    }
    const std::string thin = " lc rgb '" + std::string(lines[i]->look.colour) + "' lw 1.2 notitle";
    parts.push_back(block + " using 5:3:(0):($4-$3) with vectors nohead" + thin);
    parts.push_back(block + " using 5:2 with linespoints" + point_style(lines[i]->look) +
                    (titled ? " title " + legend_title(lines[i]->label) : " notitle"));
  }
  return "plot " + join(parts, ", ") + "\n";
}

}  // namespace

Figure budget_figure(const Sweep& sweep) {
  Figure figure{.name = "budget", .title = "Retained mass against budget", .caption = {}};
  std::vector<const Line*> lines;
  std::vector<Line> shown;
  bool errors = false;
  for (const Line& line : sweep.lines) {
    if (!bounded(sweep, line)) continue;
    lines.push_back(&line);
    shown.push_back(line);
    errors = errors || std::isfinite(sweep.specs[line.specs[0]].output_error.mean);
  }
  if (lines.empty()) return figure;
  Grid grid{.panels = 2, .columns = 2, .panel_width = 320, .panel_height = 300, .gap = 70};
  grid.right = legend_width(shown);
  figure.width = grid.width();
  figure.height = grid.height();
  FigureData data({"budget", "mean", "low", "high", "drawn_at"});
  const std::string left = curves(sweep, lines, &SpecSummary::retained_mass, data, true);
  const std::string right = curves(
      sweep, lines, errors ? &SpecSummary::output_error : &SpecSummary::kl_to_dense, data, false);
  data.finish(figure);
  figure.body =
      "set multiplot\n" + plain_axes() + "set logscale x 2\n" + tics_of(sweep) +
      "set xlabel 'budget, tokens'\nset grid ytics lc rgb '#e4e4e4' lw 1\n" +
      legend_right_of(grid) + grid.place(0) + "set ylabel 'retained mass'\nset yrange [*:1]\n" +
      left + "unset key\n" + grid.place(1) +
      (errors ? "set ylabel 'relative output error'\n" : "set ylabel 'KL to dense, nats'\n") +
      "set yrange [0:*]\n" + right;
  figure.caption =
      "Left: the share of dense attention whose keys were still in the cache, mean over queries. "
      "Right: " +
      std::string(errors ? "the relative error of the attention output."
                         : "the divergence of the renormalised row from the dense row.") +
      " Open-loop replay of " + subject_of(*sweep.result) +
      ". Points are means over query heads (seeds averaged first); bars are 95 % t-intervals over "
      "heads, a measure of the spread across heads. Points at one budget are set side by side.";
  return figure;
}

}  // namespace kv
