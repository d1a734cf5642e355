#include "kvcheck/reports/figures/figure_closed_loop.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>
#include <utility>

#include "kvcheck/base/text/text.h"
#include "kvcheck/policies/claims.h"
#include "kvcheck/reports/numbers/labels.h"
#include "kvcheck/reports/numbers/statistics.h"
#include "kvcheck/reports/plot/legend.h"
#include "kvcheck/reports/plot/plot_text.h"
#include "kvcheck/reports/plot/position_plot.h"
#include "kvcheck/reports/tables/closed_loop_tables.h"

namespace kv::reports {
namespace {

// A result's cells as lines of one policy each, over its budgets.
struct Curves {
  const ClosedLoopResult* result = nullptr;
  std::vector<Line> lines{};
  std::uint32_t budget = 0;  // the one that figures of one budget show
  Page page{};

  [[nodiscard]] const ClosedLoopCell& cell(std::size_t i) const { return result->cells[i]; }

  // The line's cell at the budget, or its only one if nothing is evicted.
  [[nodiscard]] const ClosedLoopCell* shown(const Line& line) const {
    for (const std::size_t i : line.specs) {
      const Spec& spec = cell(i).cell.spec;
      if (!spec.bounded() || spec.budget == budget) return &cell(i);
    }
    return nullptr;
  }

  [[nodiscard]] std::vector<Line> lines_shown() const {
    std::vector<Line> some;
    std::ranges::copy_if(lines, std::back_inserter(some),
                         [&](const Line& line) { return shown(line) != nullptr; });
    return some;
  }
};

Curves curves_of(const ClosedLoopResult& result) {
  std::vector<Spec> specs;
  for (const ClosedLoopCell& cell : result.cells) specs.push_back(cell.cell.spec);
  Curves curves{.result = &result,
                .lines = lines_of(specs, labels_of(specs)),
                .budget = middle_budget(specs)};
  std::vector<double> scores;  // the lowest perplexity is the best
  for (const Line& line : curves.lines) {
    const ClosedLoopCell* const cell = curves.shown(line);
    scores.push_back(cell == nullptr ? not_measured : -cell->perplexity());
  }
  highlight(curves.lines, scores);
  curves.lines = in_drawing_order(curves.lines);
  return curves;
}

// Whether policies that draw are shown, each with one seed.
bool one_seed_each(const ClosedLoopResult& result) {
  std::set<std::uint64_t> seeds;
  for (const ClosedLoopCell& cell : result.cells) {
    if (draws(*cell.cell.spec.policy)) seeds.insert(cell.cell.seed);
  }
  return seeds.size() == 1;
}

std::string closing(const Curves& curves) {
  return " Closed loop: " + curves.result->model +
         " ran on what each policy kept. Text: " + text_of(*curves.result) + "." +
         (one_seed_each(*curves.result) ? " Policies that draw did so with one seed." : "");
}

std::string at_budget(const Curves& curves) {
  return curves.budget == 0 ? "" : ", at budget " + std::to_string(curves.budget);
}

// A logarithmic axis that ends where the curves do. Tics between powers of ten have numbers too,
// because the axis may contain no power of ten.
std::string perplexity_axis() {
  return "set logscale y\nset autoscale yfix\nset offsets 0,0,graph 0.06,graph 0.06\n"
         "set ytics (1,1.2,1.5,2,2.5,3,4,5,7,10,15,20,30,50,70,100,200,300,500,700,1000,2000,5000,"
         "10000,100000)\n";
}

Figure position_figure(const Curves& curves) {
  Figure figure{.name = "perplexity", .title = "Perplexity against position", .caption = {}};
  const std::vector<Line> lines = curves.lines_shown();
  std::size_t points = 0;
  std::vector<PositionCurve> positions;
  for (const Line& line : lines) {
    const std::vector<LossPoint>& series = curves.shown(line)->series;
    points = std::max(points, series.size());
    positions.push_back({.label = line.label, .look = line.look, .series = series});
  }
  if (points < 2) return figure;
  const std::size_t step = curves.result->series_width;
  const std::size_t width = targets_of_point(points * step, step);
  FigureData data(position_columns());
  const std::string panel = position_panel(positions, width, data);
  data.finish(figure);
  Grid grid{.panel_width = 640, .panel_height = 320};
  grid.fit(curves.page);
  const std::string legend = add_legend(lines, grid);
  figure.width = grid.width();
  figure.height = grid.height();
  figure.body = plain_axes() + grid.place(0) + legend + grid_lines() + perplexity_axis() +
                "set ylabel 'perplexity" + at_budget(curves) +
                "'\nset xlabel 'position, tokens'\n"
                "set xrange [0:" +
                std::to_string(curves.result->longest) + "]\n" + panel + "\n";
  figure.caption = "Perplexity over runs of " + std::to_string(width) + " targets" +
                   (curves.result->streams > 1 ? ", all streams together" : "") +
                   at_budget(curves) + "; the axis is logarithmic. The model was trained on " +
                   with_commas(curves.result->context) + " tokens." + closing(curves);
  return figure;
}

// One panel against budget: a line per policy that has one, and a level for those that have none.
std::string budget_panel(const Curves& curves,
                         const char* name,
                         const std::function<double(const ClosedLoopCell&)>& value,
                         FigureData& data) {
  std::vector<std::string> parts;
  for (const Line& line : curves.lines) {
    const std::string block = data.begin(line.label, name);
    const bool bounded = curves.cell(line.specs[0]).cell.spec.bounded();
    for (const std::size_t i : line.specs) {
      const double budget = bounded ? curves.cell(i).cell.spec.budget : 0;
      data.row({budget, value(curves.cell(i))});
    }
    const std::string level = " using (left_end):2:(right_end-left_end):(0) with vectors nohead" +
                              line_style(line.look) + " notitle";
    parts.push_back(block + (bounded ? " using 1:2 with linespoints" + point_style(line.look) +
                                           curve_title(line.label)
                                     : level));
  }
  return "plot " + join(parts, ", ") + "\n";
}

std::string axis_with_ends(const std::set<std::uint32_t>& budgets) {
  std::vector<std::string> words;
  for (const std::uint32_t budget : budgets) words.push_back(std::to_string(budget));
  const std::string left = shortest(*budgets.begin() / 1.3);
  const std::string right = shortest(*budgets.rbegin() * 1.3);
  return "left_end = " + left + "\nright_end = " + right + "\nset logscale x 2\nset xtics (" +
         join(words, ",") + ")\nset xrange [" + left + ":" + right +
         "]\nset xlabel 'budget, tokens'\n";
}

Figure budgets_figure(const Curves& curves) {
  Figure figure{.name = "budget", .title = "Perplexity against budget", .caption = {}};
  std::set<std::uint32_t> budgets;
  for (const ClosedLoopCell& cell : curves.result->cells) {
    if (cell.cell.spec.bounded()) budgets.insert(cell.cell.spec.budget);
  }
  if (budgets.size() < 2) return figure;
  const bool asks = std::ranges::any_of(
      curves.result->cells, [](const ClosedLoopCell& cell) { return far_recall(cell).asked > 0; });
  Grid grid{.panels = asks ? 2U : 1U,
            .columns = asks ? 2U : 1U,
            .panel_width = asks ? 320.0 : 480.0,
            .panel_height = 300,
            .gap = labelled_gap};
  grid.fit(curves.page);
  const std::string legend = add_legend(curves.lines, grid);
  figure.width = grid.width();
  figure.height = grid.height();
  FigureData data({"measure", "budget", "value"});
  const auto perplexity = [](const ClosedLoopCell& cell) { return cell.perplexity(); };
  const auto recall = [](const ClosedLoopCell& cell) { return far_recall(cell).share(); };
  figure.body = "set multiplot\n" + plain_axes() + grid_lines() + legend + axis_with_ends(budgets) +
                grid.place(0) + perplexity_axis() + "set ylabel 'perplexity'\n" +
                budget_panel(curves, "perplexity", perplexity, data);
  figure.caption = "Perplexity over all targets, on a logarithmic axis";
  if (asks) {
    const std::string recall_from = "recall from " + std::to_string(far_back);
    figure.title = "Perplexity and recall against budget";
    figure.body += std::string(legend_done) +
                   "unset logscale y\nset ytics autofreq\nset offsets\n" + grid.place(1) +
                   fitting_ylabel(grid, {recall_from + " tokens on", recall_from + " on"}) +
                   "set yrange [0:1]\n" + budget_panel(curves, "recall", recall, data);
    figure.caption +=
        ", and the share of questions answered rightly whose fact was last mentioned " +
        std::to_string(far_back) + " or more tokens before (" +
        with_commas(far_recall(curves.result->cells.front()).asked) + " of them)";
  }
  figure.caption +=
      ". A policy that evicts nothing has no budget and is drawn as a horizontal line." +
      closing(curves);
  data.finish(figure);
  return figure;
}

Figure recall_figure(const Curves& curves) {
  Figure figure{.name = "recall", .title = "Recall by distance", .caption = {}};
  if (!curves.result->asks()) return figure;
  const std::vector<Line> lines = curves.lines_shown();
  if (lines.empty()) return figure;
  std::vector<std::size_t> bins;
  std::vector<std::string> tics;
  const std::vector<RecallBin>& all = curves.result->cells.front().recall;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].asked == 0) continue;
    tics.push_back("\"" + all[i].label() + "\\n(" + std::to_string(all[i].asked) + ")\" " +
                   std::to_string(bins.size()));
    bins.push_back(i);
  }
  FigureData data(
      {"first_distance", "last_distance", "asked", "right", "share", "low", "high", "drawn_at"});
  std::vector<std::string> parts;
  for (const Line& line : lines) {
    const std::string block = data.begin(line.label);
    // Points are drawn side by side, so that their bars do not overlap.
    const double beside =
        (static_cast<double>(&line - lines.data()) + 0.5) / static_cast<double>(lines.size()) - 0.5;
    for (std::size_t place = 0; place < bins.size(); ++place) {
      const RecallBin& bin = curves.shown(line)->recall[bins[place]];
      const Interval share = share_interval(bin.right, bin.asked);
      data.row({static_cast<double>(bin.first), static_cast<double>(bin.last),
                static_cast<double>(bin.asked), static_cast<double>(bin.right), bin.share(),
                share.low, share.high, static_cast<double>(place) + 0.5 * beside});
    }
    parts.push_back(block + " using 8:6:(0):($7-$6) with vectors nohead lc rgb '" +
                    std::string(line.look.colour) + "' lw 1 notitle");
    parts.push_back(block + " using 8:5 with linespoints" + point_style(line.look) +
                    curve_title(line.label));
  }
  data.finish(figure);
  Grid grid{.panel_width = 560, .panel_height = 320, .bottom = 92};
  grid.fit(curves.page);
  const std::string legend = add_legend(lines, grid);
  figure.width = grid.width();
  figure.height = grid.height();
  figure.body =
      plain_axes() + grid.place(0) + legend + grid_lines() + "set yrange [0:1]\n" +
      fitting_ylabel(grid,
                     {"share answered rightly" + at_budget(curves), "share answered rightly"}) +
      "set xrange [-0.3:" + shortest(static_cast<double>(bins.size()) - 0.7) + "]\nset xtics (" +
      join(tics, ",") +
      ")\nset xlabel 'tokens since the fact was last mentioned (questions)' offset 0,-1\nplot " +
      join(parts, ", ") + "\n";
  figure.caption =
      "Questions whose likeliest next token was the answer" + at_budget(curves) +
      ", by the distance in tokens to the latest mention of the fact; in parentheses how many "
      "were asked. Bars: Wilson 95 % intervals, as if every question were independent; all "
      "policies get the same questions." +
      closing(curves);
  return figure;
}

}  // namespace

std::vector<Figure> closed_loop_figures(const ClosedLoopResult& result,
                                        Page page,
                                        const Renaming& renaming) {
  std::vector<Figure> figures;
  if (result.cells.empty()) return figures;
  Curves curves = curves_of(result);
  curves.page = page;
  rename(curves.lines, renaming,
         [&](std::size_t i) -> const Spec& { return curves.cell(i).cell.spec; });
  for (const auto make : {position_figure, budgets_figure, recall_figure}) {
    Figure figure = make(curves);
    if (!figure.body.empty()) figures.push_back(std::move(figure));
  }
  return figures;
}

}  // namespace kv::reports
