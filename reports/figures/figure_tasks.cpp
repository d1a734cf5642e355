#include "kvcheck/reports/figures/figure_tasks.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/figures/task_rows.h"
#include "kvcheck/reports/numbers/bootstrap.h"
#include "kvcheck/reports/numbers/escape.h"
#include "kvcheck/reports/numbers/labels.h"
#include "kvcheck/reports/plot/heat_map.h"
#include "kvcheck/reports/plot/legend.h"
#include "kvcheck/reports/plot/plot_text.h"

namespace kv::reports {
namespace {

constexpr double row_height = 20;
constexpr double lowest_row = 13;    // whose words do not touch
constexpr double beside_words = 28;  // of a y axis

// The room for the words of a y axis.
double widest_words(const Page& page) {
  return page.width > 0 ? page.width / 2 - beside_words : 392;
}

// How many rows a page has room for in all panels of the grid.
std::size_t rows_that_fit(const Grid& grid) {
  if (grid.page.height <= 0) return ~std::size_t{0};
  const auto panels = static_cast<double>(grid.rows());
  const double room = (grid.page.height - grid.bottom + grid.row_gap) / panels;
  return static_cast<std::size_t>(std::max(1.0, (room - grid.top - grid.row_gap) / lowest_row));
}

// Gives up the last rows that a page has no room for, and makes panels as high as the rows need.
void fit_rows(Grid& grid, std::vector<TaskRow>& rows) {
  rows.resize(std::min(rows.size(), rows_that_fit(grid)));
  const auto count = static_cast<double>(rows.size());
  grid.panel_height = count * row_height;
  grid.lower_to_a_page(0, count * lowest_row);
}

// What the caption says of the numbers that are drawn.
std::string scores_words(std::size_t items) {
  const std::string interval = items < fewest_pairs ? "." : " with 95 % bootstrap intervals.";
  return "Means over items: the share of exact answers with Wilson's 95 % intervals, and the loss "
         "of the first right answer per token" +
         interval;
}

// One panel for exact answers and one for their loss, with a row for each spec.
Figure answers_figure(const TaskResult& result, std::vector<TaskRow> rows, const Page& page) {
  Figure figure{.name = "answer-scores", .title = "Answers by policy", .caption = {}};
  const std::size_t all = rows.size();
  Grid grid{.panels = 2, .columns = 2, .panel_width = 280, .bottom = 68, .page = page};
  FittedWords labels = fitted(rows, widest_words(page));
  grid.left = labels.width + beside_words;
  if (page.width > 0) {
    constexpr double narrowest = 150;
    const double both = (page.width - grid.left - grid.right - grid.gap) / 2;
    grid.columns = both < narrowest ? 1 : 2;
    grid.panel_width = grid.columns == 2 ? both : page.width - grid.left - grid.right;
    grid.row_gap = 40;  // for the axis of the upper panel
    // Rather all specs than both panels.
    if (rows_that_fit(grid) < rows.size()) grid.panels = grid.columns;
  }
  fit_rows(grid, rows);
  labels.words.resize(rows.size());
  figure.width = grid.width();
  figure.height = grid.height();
  figure.body = "set multiplot\n" + plain_axes() + "unset key\nset yrange [" +
                shortest(static_cast<double>(rows.size()) - 0.5) +
                ":-0.5]\nset grid xtics lc rgb '#e4e4e4' lw 1\n";
  FigureData data({"measure", "row", "mean", "low", "high"});
  std::size_t place = 0;
  std::vector<std::string> others;
  for (const auto& [name, label, short_label] :
       {std::tuple{"exact", "share of exact answers", "exact answers"},
        std::tuple{"answer_loss", "loss of the answer, nats", "loss, nats"}}) {
    if (place == grid.panels) {
      others.emplace_back(label);
      continue;
    }
    const Score& score = score_named(name);
    std::vector<std::string> parts;
    double most = score.is_share ? 1 : 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Interval mean = score_mean(values_of(result, rows[i], name), score);
      most = std::max({most, mean.mean, std::isnan(mean.high) ? 0 : mean.high});
      const std::string block = data.begin(rows[i].label(), name);
      data.row({static_cast<double>(i), mean.mean, mean.low, mean.high});
      parts.push_back(block + " using 3:1:($4-$3):(0) with vectors nohead lc rgb '" +
                      std::string(rows[i].look.colour) + "' lw 2 notitle");
      parts.push_back(block + " using 2:1 with points" + point_style(rows[i].look) +
                      curve_title(rows[i].label()));
    }
    figure.body += grid.place(place) +
                   (score.is_share ? "set xrange [0:1]\n" : "set xrange [0:*]\n") +
                   axis_label('x', true, fitting(grid.panel_width, {label, short_label})) +
                   round_tics('x', most, std::max(2, static_cast<int>(grid.panel_width / 45))) +
                   (grid.first_in_row(place) ? word_tics('y', labels.words, "") : "unset ytics\n") +
                   "plot " + join(parts, ", ") + "\n";
    ++place;
  }
  data.finish(figure);
  figure.caption = left_out(others) + drawn_first(rows.size(), all) +
                   scores_words(result.items.size()) + about_rows(result, rows);
  return figure;
}

// The grid of the maps, and the words of their axes that fit it.
struct Maps {
  Grid grid;
  std::vector<std::string> rows;     // words of the y axis
  std::vector<std::string> columns;  // of the x axis
  bool rotated = false;              // the words of the x axis
  bool numbered = false;             // the cells
  bool legible = false;              // whether words of neighbours do not touch
};

constexpr double widest_cell = 56;
constexpr double narrowest_number = 38;  // a cell with a number in it
constexpr double widest_place = 42;      // a cell with "0.25" below it
constexpr double narrowest_map = 200;    // whose title has room
constexpr double widest_map = 260;
constexpr std::size_t most_rows = 20;  // of a map for each spec
constexpr double title_letter = 6.4;   // an upper bound of its mean width

Maps maps_of(const GroupLayout& layout, std::vector<TaskRow>& rows, const Page& page) {
  Maps maps;
  const double most = widest_words(page);
  const FittedWords words = layout.by_spec ? fitted(layout.bases, most) : fitted(rows, most);
  maps.rows = words.words;
  const double left = words.width + beside_words;
  const auto columns = static_cast<double>(layout.columns.size());
  Grid& grid = maps.grid;
  grid = layout.by_spec
             ? small_multiples(rows.size(),
                               std::clamp(columns * widest_place, narrowest_map, widest_map),
                               row_height)
             : Grid{};
  if (!layout.by_spec) grid.panel_width = std::clamp(columns * widest_cell, 160.0, 700.0);
  grid.page = page;
  grid.left = left;
  grid.right = bar_space;
  if (page.width > 0) {
    const auto panels_wide = [&] {
      const auto n = static_cast<double>(grid.columns);
      return (page.width - left - grid.right - (n - 1) * grid.gap) / n;
    };
    while (grid.columns > 1 && panels_wide() < 90) --grid.columns;
    grid.panel_width = panels_wide();
  }
  // Words of the x axis are drawn upwards if they are too long for their cell.
  const double highest = page.height > 0 ? std::min(160.0, page.height / 3) : 160;
  const FittedWords places = fitted(layout.columns, highest);
  maps.columns = places.words;
  const double widest = places.width;
  const double cell = grid.panel_width / columns;
  maps.rotated = widest > cell - 6;
  maps.legible = cell >= lowest_row && (!layout.by_spec || layout.bases.size() <= most_rows);
  maps.numbered = !layout.by_spec && cell >= narrowest_number;
  grid.bottom = (maps.rotated ? widest + 16 : 36) + (layout.placed ? 24 : 0);
  if (layout.by_spec) {
    grid.panel_height = std::max(static_cast<double>(layout.bases.size()) * row_height, 40.0);
    rows.resize(std::min(rows.size(), grid.keep_to_a_page()));
  } else {
    fit_rows(grid, rows);
    maps.rows.resize(rows.size());
  }
  return maps;
}

// Light letters on the dark half of the scale.
std::string numbers_in(const std::string& block) {
  return ", " + block +
         " using 1:2:(sprintf('%.2f',$3)):($3<0.6 ? 0xffffff : 0x000000) with labels font "
         "title_font tc rgb variable notitle";
}

// The share of exact answers of each group and spec: the names of the blocks by panel.
std::vector<std::vector<std::string>> shares_of_groups(const TaskResult& result,
                                                       const std::vector<TaskRow>& rows,
                                                       const GroupLayout& layout,
                                                       FigureData& data) {
  const Score& score = score_named("exact");
  std::vector<std::vector<std::string>> blocks(layout.by_spec ? rows.size() : 1);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::vector<double> values = values_of(result, rows[i], score.name);
    for (const TaskGroup& group : layout.groups) {
      const Interval mean = score_mean(values_in(result, values, &group.name), score);
      blocks[layout.by_spec ? i : 0].push_back(
          data.begin(rows[i].label(), group_words(group.name)));
      const std::size_t row = layout.by_spec ? layout.base_of(group) : i;
      data.row({static_cast<double>(layout.column_of(group)), static_cast<double>(row), mean.mean,
                mean.low, mean.high});
    }
  }
  return blocks;
}

// The axes of one map of several.
std::string map_axes(const Maps& maps, const GroupLayout& layout, std::size_t i) {
  const Grid& grid = maps.grid;
  std::string axes = "unset xtics\nunset xlabel\n";
  if (grid.lowest(i)) {
    axes = word_tics('x', maps.columns, maps.rotated ? "rotate by 90 right" : "norotate");
    const std::string words = fitting(grid.panel_width, {"place of the fact", "place"});
    axes += layout.placed ? axis_label('x', true, words) : "unset xlabel\n";
  }
  return axes + (grid.first_in_row(i) ? word_tics('y', maps.rows, "") : "unset ytics\n");
}

// Exact answers of each group as a map.
Figure groups_figure(const TaskResult& result, std::vector<TaskRow> rows, const Page& page) {
  Figure figure{.name = "answer-groups", .title = "Exact answers by group", .caption = {}};
  const GroupLayout layout = layout_of_groups(result);
  if (layout.groups.size() < 2) return figure;
  const std::size_t all = rows.size();
  const Maps maps = maps_of(layout, rows, page);
  if (!maps.legible) return figure;
  const Grid& grid = maps.grid;
  FigureData data({"group", "column", "row", "mean", "low", "high"});
  const auto blocks = shares_of_groups(result, rows, layout, data);
  data.finish(figure);
  figure.width = grid.width();
  figure.height = grid.height();
  const auto end = [](std::size_t n) { return shortest(static_cast<double>(n) - 0.5); };
  figure.body = "set multiplot\n" + plain_axes() + "set border 15\nunset key\n" + even_palette() +
                colour_bar(grid, 0, "exact answers") +
                "set xrange [-0.5:" + end(layout.columns.size()) + "]\nset yrange [" +
                end(maps.rows.size()) + ":-0.5]\n";
  const std::vector<std::string> titles =
      labels_in(rows, static_cast<std::size_t>(grid.panel_width / title_letter));
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    std::vector<std::string> parts;
    for (const std::string& block : blocks[i]) {
      parts.push_back(coloured_cells(block) + (maps.numbered ? numbers_in(block) : ""));
    }
    figure.body += grid.place(i) + map_axes(maps, layout, i);
    if (layout.by_spec) figure.body += panel_title(titles[i], grid.panel_width);
    figure.body += "plot " + join(parts, ", ") + "\nunset colorbox\n";
  }
  figure.caption = drawn_first(rows.size(), all) +
                   "Share of exact answers of the items of each group" +
                   (layout.placed ? ", by the place of the requested fact in the context, from 0 "
                                    "(the begin) to 1 (the end)."
                                  : ".") +
                   about_rows(result, rows);
  return figure;
}

}  // namespace

std::vector<Figure> task_figures(const TaskResult& result, Page page, const Renaming& renaming) {
  std::vector<Figure> figures;
  if (result.cells.empty() || result.items.empty()) return figures;
  const std::vector<TaskRow> rows = task_rows(result, renaming);
  for (const auto make : {answers_figure, groups_figure}) {
    Figure figure = make(result, rows, page);
    if (!figure.body.empty()) figures.push_back(std::move(figure));
  }
  if (figures.size() < 2 && groups_of(result).size() > 1) {
    figures.front().caption += " The groups are too many for a map of this size.";
  }
  return figures;
}

}  // namespace kv::reports
