#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/figures/figures.h"
#include "kvcheck/reports/plot/legend.h"
#include "kvcheck/reports/plot/plot_text.h"

namespace kv::reports {
namespace {

// One panel: a metric of a spec, or 1 minus that metric.
struct Measure {
  Interval AfterLossSummary::*metric = nullptr;
  bool lost = false;
  bool logarithmic = false;  // and without bars: their lower ends may be below zero
  const char* name = "";     // in the CSV
  const char* label = "";
};

bool bounded(const Sweep& sweep, const Line& line) {
  return sweep.specs[line.specs[0]].spec.bounded();
}

// More bars than this at one place hide each other.
constexpr std::size_t most_bars = 8;

std::string axis_of(const Sweep& sweep) {
  std::set<std::uint32_t> budgets;
  for (const SpecSummary& spec : sweep.specs) {
    if (spec.spec.bounded()) budgets.insert(spec.spec.budget);
  }
  return budget_axis(budgets);
}

Interval value_of(const SpecSummary& spec, const Measure& measure) {
  const Interval& value = spec.after.*measure.metric;
  if (!measure.lost) return value;
  return {.mean = 1 - value.mean, .low = 1 - value.high, .high = 1 - value.low};
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
                   const Measure& measure,
                   FigureData& data) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string block = data.begin(lines[i].label, measure.name);
    for (const std::size_t s : lines[i].specs) {
      const SpecSummary& spec = sweep.specs[s];
      const Interval value = value_of(spec, measure);
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
double lowest_of(const Sweep& sweep, const std::vector<Line>& lines, const Measure& measure) {
  double lowest = 1;
  for (const Line& line : lines) {
    for (const std::size_t s : line.specs) {
      const Interval value = value_of(sweep.specs[s], measure);
      const double shown = lines.size() <= most_bars ? std::min(value.low, value.mean) : value.mean;
      if (std::isfinite(shown)) lowest = std::min(lowest, shown);
    }
  }
  return lowest;
}

std::vector<Measure> measures_of(const Sweep& sweep, const std::vector<Line>& lines) {
  const bool errors = std::ranges::any_of(lines, [&](const Line& line) {
    return std::isfinite(sweep.specs[line.specs[0]].after.output_error.mean);
  });
  std::vector<Measure> measures = {{.metric = &AfterLossSummary::retained_mass,
                                    .name = "retained_mass",
                                    .label = "retained mass"},
                                   {.metric = &AfterLossSummary::retained_mass,
                                    .lost = true,
                                    .logarithmic = true,
                                    .name = "lost_mass",
                                    .label = "lost mass, 1 - retained"}};
  // KL to dense is no third measure: at absolute positions it is -ln(retained mass).
  if (errors) {
    measures.push_back({.metric = &AfterLossSummary::output_error,
                        .logarithmic = true,
                        .name = "output_error",
                        .label = "relative output error"});
  }
  if (sweep.result->top_k > 0) {
    measures.push_back({.metric = &AfterLossSummary::topk_overlap,
                        .name = "topk_overlap",
                        .label = "top-k overlap"});
  }
  return measures;
}

// Names the lines whose caches are larger than the budget at which they are drawn.
std::string larger_than_budget(const Sweep& sweep, const std::vector<Line>& lines) {
  std::vector<std::string> names;
  for (const Line& line : lines) {
    const auto more = [&](std::size_t s) { return stores_more(sweep.specs[s]); };
    if (std::ranges::any_of(line.specs, more)) names.push_back(line.label);
  }
  if (names.empty()) return "";
  return " Larger than the budget at which they are drawn: " + join(names, ", ") + ".";
}

std::string caption_of(const Sweep& sweep, bool errors) {
  const std::string k = std::to_string(sweep.result->top_k);
  return "Retained mass: the share of dense attention whose keys were still in the cache, mean "
         "over the queries from the first one on that cannot see every token. Lost mass is the "
         "rest, on a logarithmic axis, which separates large "
         "budgets. " +
         std::string(errors ? "Output error: of the attention output, relative to the dense one. "
                            : "") +
         (sweep.result->top_k == 0
              ? ""
              : "Top-k overlap: the share of the " + k +
                    " largest dense weights that are among the largest of what is left. ") +
         "Open-loop replay of " + subject_of(*sweep.result) +
         ". Points are means over query heads and seeds. Bars, on the linear axes of up to eight "
         "policies, are 95 % t-intervals over the seeds of policies that draw; nothing here says "
         "how other texts differ.";
}

}  // namespace

Figure budget_figure(const Sweep& sweep) {
  Figure figure{.name = "budget", .title = "What is kept and lost against budget", .caption = {}};
  std::vector<Line> lines;
  std::ranges::copy_if(in_drawing_order(sweep.lines), std::back_inserter(lines),
                       [&](const Line& line) { return bounded(sweep, line); });
  if (lines.empty()) return figure;
  const std::vector<Measure> measures = measures_of(sweep, lines);
  Grid grid{.panels = measures.size(),
            .columns = 2,
            .panel_width = 340,
            .panel_height = 260,
            .gap = labelled_gap,
            .row_gap = 50};
  grid.fit(sweep.page.width);
  const std::string legend = add_legend(lines, grid);
  figure.width = grid.width();
  figure.height = grid.height();
  figure.body = "set multiplot\n" + plain_axes() + "set logscale x 2\n" + axis_of(sweep) +
                "set grid ytics lc rgb '#e4e4e4' lw 1 dt 1\n" + legend;
  FigureData data({"measure", "budget", "mean", "low", "high"});
  for (std::size_t i = 0; i < measures.size(); ++i) {
    const Measure& measure = measures[i];
    figure.body +=
        grid.place(i) + "set ylabel '" + measure.label + "'\n" +
        axis_label('x', true, "budget, tokens") +
        (measure.logarithmic ? "set logscale y\nset format y '10^{%L}'\nset yrange [*:*]\n" +
                                   std::string(automatic_tics)
                             : "unset logscale y\nset format y '%g'\nset yrange [*:1]\n" +
                                   share_tics(lowest_of(sweep, lines, measure))) +
        curves(sweep, lines, measure, data) + std::string(legend_done);
  }
  data.finish(figure);
  figure.caption = caption_of(sweep, measures.size() == 4) + larger_than_budget(sweep, lines);
  return figure;
}

}  // namespace kv::reports
