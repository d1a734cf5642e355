#include <algorithm>
#include <map>

#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/figures/figures.h"
#include "kvcheck/reports/plot/heat_map.h"
#include "kvcheck/reports/plot/plot_text.h"

namespace kv::reports {
namespace {

using Place = std::pair<std::size_t, std::size_t>;  // layer, head

// Retained mass of each head after the first loss, its seeds averaged, in order.
std::map<Place, double> masses_of(const Sweep& sweep, const SpecSummary& summary) {
  std::map<Place, double> masses;
  const auto cells = sweep.cells(summary);
  const AfterLoss after(summary.spec, sweep.result->trace);
  for (const CellResult* cell : cells) {
    for (const HeadResult& head : cell->heads) {
      masses[{head.layer, head.head}] +=
          (after.any() ? after.share(head.metrics.retained_mass) : head.metrics.retained_mass) /
          static_cast<double>(cells.size());
    }
  }
  return masses;
}

// The layers as tic labels at 0, 1, ..., because recorded layers need not be consecutive.
std::string layer_tics(const std::vector<std::size_t>& layers) {
  std::vector<std::string> words;
  const std::size_t step = 1 + layers.size() / 13;
  for (std::size_t i = 0; i < layers.size(); i += step) {
    words.push_back("'" + std::to_string(layers[i]) + "' " + std::to_string(i));
  }
  return "set ytics (" + join(words, ",") + ") scale 0\n";
}

}  // namespace

Figure heads_figure(const Sweep& sweep) {
  Figure figure{.name = "head-mass", .title = "Retained mass of every head", .caption = {}};
  FigureData data({"head", "layer_row", "retained_mass", "layer"});
  const std::vector<std::size_t>& layers = sweep.result->trace.layers;
  std::vector<const Line*> lines;
  for (const Line& line : sweep.lines) {
    const SpecSummary* summary = sweep.at_budget(line);
    if (summary != nullptr && summary->spec.bounded()) lines.push_back(&line);
  }
  if (lines.empty()) return figure;
  const std::size_t policies = lines.size();
  Grid grid = small_multiples(lines.size(), 190,
                              std::clamp(24.0 * static_cast<double>(layers.size()), 60.0, 240.0));
  grid.right = bar_space;
  grid.fit(sweep.page);
  lines.resize(grid.keep_to_a_page());
  std::vector<std::string> blocks;
  double lowest = 1;
  for (const Line* line : lines) {
    blocks.push_back(data.begin(line->label));
    for (const auto& [place, mass] : masses_of(sweep, *sweep.at_budget(*line))) {
      const auto row = std::ranges::find(layers, place.first) - layers.begin();
      data.row({static_cast<double>(place.second), static_cast<double>(row), mass,
                static_cast<double>(place.first)});
      lowest = std::min(lowest, mass);
    }
  }
  const std::size_t heads = sweep.result->trace.query_heads;
  if (lowest > 0.999999) lowest = 0;  // a scale needs two different ends
  data.finish(figure);
  figure.width = grid.width();
  figure.height = grid.height();
  const auto end = [](std::size_t n) { return shortest(static_cast<double>(n) - 0.5); };
  figure.body = "set multiplot\n" + plain_axes() + "set border 15\nunset key\n" + even_palette() +
                "set tics scale 0\n" + colour_bar(grid, lowest, "retained mass") +
                "set xrange [-0.5:" + end(heads) + "]\nset yrange [" + end(layers.size()) +
                ":-0.5]\n" + token_tics('x', heads, 8);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    figure.body += grid.place(i) + panel_title(lines[i]->label, grid.panel_width) +
                   axis_label('x', grid.lowest(i), "query head") +
                   (grid.first_in_row(i) ? "set ylabel 'layer'\n" + layer_tics(layers)
                                         : "unset ylabel\nunset ytics\n") +
                   (i == 0 ? "" : "unset colorbox\n") + "plot " + coloured_cells(blocks[i]) + "\n";
  }
  figure.caption =
      "Mean over the queries from the first one on that cannot see every token (and over "
      "seeds) for each layer and query head at budget " +
      std::to_string(sweep.budget) + "; the scale begins at " +
      (lowest > 0 ? "the lowest value" : "0") + ". " + drawn_of(lines.size(), policies) +
      "Open-loop replay of " + subject_of(*sweep.result) + ".";
  return figure;
}

}  // namespace kv::reports
