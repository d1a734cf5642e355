#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/figures/figures.h"
#include "kvcheck/reports/plot/legend.h"
#include "kvcheck/reports/plot/plot_text.h"

namespace kv::reports {
namespace {

constexpr Look optimum_look = {.colour = "#000000", .dash = "1"};
constexpr Look per_step_look = {.colour = "#777777", .dash = "2", .point = 4};
constexpr Look greedy_look = {.colour = "#777777", .dash = "3", .point = 8};

bool measured(const SpecSummary& spec) {
  return spec.spec.bounded() && std::isfinite(spec.after.optimum_share);
}

// Lines that have a share of the optimum to show.
std::vector<Line> lines_with_share(const Sweep& sweep) {
  std::vector<Line> lines;
  std::ranges::copy_if(in_drawing_order(sweep.lines), std::back_inserter(lines),
                       [&](const Line& line) {
                         return std::ranges::any_of(
                             line.specs, [&](std::size_t s) { return measured(sweep.specs[s]); });
                       });
  return lines;
}

// The line whose bounds are drawn. Most other lines have the same bounds.
const Line& usual_line(const Sweep& sweep, const std::vector<Line>& lines) {
  std::map<double, std::size_t> lines_with;
  const auto bound = [&](const Line& line) {
    return sweep.specs[line.specs.front()].oracle.per_step;
  };
  for (const Line& line : lines) ++lines_with[bound(line)];
  return *std::ranges::max_element(lines, {}, [&](const Line& line) {
    return lines_with[bound(line)] * 4096 + line.specs.size();
  });
}

std::string axis_of(const Sweep& sweep) {
  std::set<std::uint32_t> budgets;
  for (const SpecSummary& spec : sweep.specs) {
    if (measured(spec)) budgets.insert(spec.spec.budget);
  }
  return "set logscale x 2\n" + budget_axis(budgets);
}

// One curve of numbers against budget.
template <typename ValueOf>
std::string curve(const Sweep& sweep,
                  const Line& line,
                  const std::string& label,
                  const char* panel,
                  FigureData& data,
                  ValueOf value_of) {
  const std::string block = data.begin(label, panel);
  for (const std::size_t s : line.specs) {
    const SpecSummary& spec = sweep.specs[s];
    if (measured(spec)) data.row({static_cast<double>(spec.spec.budget), value_of(spec)});
  }
  return block + " using 1:2 with linespoints";
}

// The least of the numbers of some lines.
template <typename ValueOf>
double lowest_of(const Sweep& sweep, const std::vector<Line>& lines, ValueOf value_of) {
  double lowest = 1;
  for (const Line& line : lines) {
    for (const std::size_t s : line.specs) {
      if (measured(sweep.specs[s])) lowest = std::min(lowest, value_of(sweep.specs[s]));
    }
  }
  return lowest;
}

std::string bounds_panel(const Sweep& sweep, const Line& line, FigureData& data) {
  const auto add = [&](const char* label, const Look& look, auto value_of) {
    return curve(sweep, line, label, "retained_mass", data, value_of) + point_style(look) +
           " title '" + label + "'";
  };
  const double lowest =
      lowest_of(sweep, {line}, [](const SpecSummary& s) { return s.after.oracle.greedy; });
  return share_tics('y', lowest) + "plot " +
         add("per step", per_step_look,
             [](const SpecSummary& s) { return s.after.oracle.per_step; }) +
         ", " +
         add("optimum", optimum_look, [](const SpecSummary& s) { return s.after.oracle.optimum; }) +
         ", " +
         add("greedy, no bound", greedy_look,
             [](const SpecSummary& s) { return s.after.oracle.greedy; }) +
         "\n";
}

std::string shares_panel(const Sweep& sweep, const std::vector<Line>& lines, FigureData& data) {
  std::vector<std::string> parts;
  for (const Line& line : lines) {
    parts.push_back(curve(sweep, line, line.label, "optimum_share", data,
                          [](const SpecSummary& s) { return s.after.optimum_share; }) +
                    point_style(line.look) + curve_title(line.label));
  }
  const double lowest =
      lowest_of(sweep, lines, [](const SpecSummary& s) { return s.after.optimum_share; });
  return share_tics('y', lowest) + "plot " + join(parts, ", ") + "\n";
}

}  // namespace

Figure oracle_figure(const Sweep& sweep) {
  Figure figure{.name = "oracle", .title = "What any cache could keep", .caption = {}};
  const std::vector<Line> lines = lines_with_share(sweep);
  if (lines.empty()) return figure;
  const Line& usual = usual_line(sweep, lines);
  Grid grid{.panels = 2,
            .columns = 2,
            .panel_width = 340,
            .panel_height = 260,
            .gap = labelled_gap,
            .row_gap = 50};
  grid.fit(sweep.page);
  // On a narrow page the panel of the bounds has no room for a key of its own.
  const bool narrow = grid.page.width > 0;
  const bool stacked = grid.columns == 1;
  std::vector<Line> entries = lines;
  if (narrow) {
    const auto bound = [&](const char* label, const Look& look) {
      return Line{.label = (stacked ? "above: " : "left: ") + std::string(label),
                  .policy = nullptr,
                  .look = look,
                  .specs = {}};
    };
    entries.insert(entries.begin(), {bound("per step", per_step_look),
                                     bound("optimum", optimum_look), bound("greedy", greedy_look)});
  }
  const std::string legend = add_legend(entries, grid);
  figure.width = grid.width();
  figure.height = grid.height();
  FigureData data({"measure", "budget", "value"});
  figure.body = "set multiplot\n" + plain_axes() + axis_of(sweep) +
                "set grid ytics lc rgb '#e4e4e4' lw 1 dt 1\nset yrange [*:1]\n" + grid.place(0) +
                (narrow ? legend : "set key bottom right Left reverse samplen 2\n") +
                "set ylabel 'retained mass'\n" + axis_label('x', true, "budget, tokens") +
                bounds_panel(sweep, usual, data) + (narrow ? std::string(legend_done) : legend) +
                grid.place(1) + fitting_ylabel(grid, {"share of the optimum", "of the optimum"}) +
                shares_panel(sweep, lines, data);
  data.finish(figure);
  figure.caption =
      std::string(stacked ? "Above" : "Left") +
      ": what a cache could retain if its queries see as many rows as those of " + usual.label +
      ". Optimum: the most that any cache can retain if evicted tokens never return. Per step: "
      "a looser bound, in which evicted tokens may return. Greedy: a cache that knows the "
      "future and evicts the tokens with the least future mass. " +
      (stacked ? "Below" : "Right") +
      ": each policy's retained mass as a share of the optimum of its own sizes. Open-loop replay "
      "of " +
      subject_of(*sweep.result) +
      ". Means over query heads, and over the queries from the first one on that cannot see "
      "every token.";
  return figure;
}

}  // namespace kv::reports
