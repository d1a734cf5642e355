#include <algorithm>
#include <map>

#include "base/words.h"
#include "reports/figures.h"
#include "reports/plot_text.h"

namespace kv {
namespace {

using Place = std::pair<std::size_t, std::size_t>;  // layer, head

// Retained mass of each head, its seeds averaged, in order.
std::map<Place, double> masses_of(const Sweep& sweep, const SpecSummary& summary) {
  std::map<Place, double> masses;
  const auto cells = sweep.cells(summary);
  for (const CellResult* cell : cells) {
    for (const HeadResult& head : cell->heads) {
      masses[{head.layer, head.head}] +=
          head.metrics.retained_mass / static_cast<double>(cells.size());
    }
  }
  return masses;
}

// Layers as tic labels at 0, 1, ...: recorded layers need not be consecutive.
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
  std::vector<std::string> blocks;
  double lowest = 1;
  for (const Line& line : sweep.lines) {
    const SpecSummary* summary = sweep.at_budget(line);
    if (summary == nullptr || !summary->spec.bounded()) continue;
    blocks.push_back(data.begin(line.label));
    lines.push_back(&line);
    for (const auto& [place, mass] : masses_of(sweep, *summary)) {
      const auto row = std::ranges::find(layers, place.first) - layers.begin();
      data.row({static_cast<double>(place.second), static_cast<double>(row), mass,
                static_cast<double>(place.first)});
      lowest = std::min(lowest, mass);
    }
  }
  const std::size_t heads = sweep.result->trace.query_heads;
  if (lines.empty() || layers.size() * heads < 2) return figure;
  data.finish(figure);
  Grid grid = small_multiples(lines.size(), 190,
                              std::clamp(24.0 * static_cast<double>(layers.size()), 60.0, 240.0));
  grid.right = 90;
  figure.width = grid.width();
  figure.height = grid.height();
  const auto end = [](std::size_t n) { return shortest(static_cast<double>(n) - 0.5); };
  figure.body =
      "set multiplot\n" + plain_axes() + "set border 15\nunset key\n" + even_palette() +
      "set cbrange [" + shortest(lowest) +
      ":1]\nset cblabel 'retained mass'\nset tics scale 0\nset xrange [-0.5:" + end(heads) +
      "]\nset yrange [" + end(layers.size()) + ":-0.5]\n" + token_tics('x', heads, 8);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const bool last = i + 1 == lines.size() || (i + 1) % grid.columns == 0;
    figure.body += grid.place(i) + panel_title(lines[i]->label, grid.panel_width) +
                   axis_label('x', grid.lowest(i), "query head") +
                   (grid.first_in_row(i) ? "set ylabel 'layer'\n" + layer_tics(layers)
                                         : "unset ylabel\nunset ytics\n") +
                   (last && i < grid.columns ? "set colorbox\n" : "unset colorbox\n") + "plot " +
                   blocks[i] + " using 1:2:3 with image pixels notitle\n";
  }
  figure.caption = "Mean over queries (and seeds) for each layer and query head at budget " +
                   std::to_string(sweep.budget) +
                   "; the scale begins at the lowest value. Open-loop replay of " +
                   subject_of(*sweep.result) + ".";
  return figure;
}

}  // namespace kv
