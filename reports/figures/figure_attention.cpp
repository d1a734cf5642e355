#include <algorithm>
#include <cmath>

#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/figures/figures.h"
#include "kvcheck/reports/plot/plot_text.h"

namespace kv::reports {
namespace {

constexpr std::size_t most_blocks = 128;
constexpr std::size_t most_panels = 12;
constexpr double floor_mass = 1e-4;  // smaller masses are drawn as this one

struct Panel {
  const Line* line = nullptr;  // none: the dense attention
  const Residency* unit = nullptr;
};

// The unit that holds the head of the map.
const Residency* unit_of(const TraceInfo& trace, const CellResult& cell, const AttentionMap& map) {
  for (const Residency& unit : cell.residency) {
    if (covers(trace, cell.cell.spec.unit, unit, map.layer, map.head)) return &unit;
  }
  return nullptr;
}

// The dense attention, then every policy that evicts.
std::vector<Panel> panels_of(const Sweep& sweep) {
  std::vector<Panel> panels = {{}};
  for (const Line& line : sweep.lines) {
    const SpecSummary* summary = sweep.at_budget(line);
    if (summary == nullptr || !summary->spec.bounded()) continue;
    const Residency* unit =
        unit_of(sweep.result->trace, *sweep.cells(*summary)[0], sweep.result->map);
    if (unit != nullptr) panels.push_back({&line, unit});
  }
  return panels;
}

// The share of a block's (query, key) pairs whose key was still resident, 1 in a block without
// pairs.
double resident_share(const Residency& unit,
                      std::size_t block,
                      std::size_t row,
                      std::size_t column) {
  std::size_t pairs = 0;
  std::size_t there = 0;
  const std::size_t tokens = unit.evicted_at.size();
  for (std::size_t key = column * block; key < std::min(tokens, (column + 1) * block); ++key) {
    const std::size_t first = std::max(row * block, key);
    const std::size_t last = std::min(tokens, (row + 1) * block);
    const std::size_t until = std::min<std::size_t>(last, unit.evicted_at[key]);
    pairs += last - std::min(first, last);
    there += until - std::min(first, until);
  }
  return pairs == 0 ? 1.0 : static_cast<double>(there) / static_cast<double>(pairs);
}

// The map with blocks `by` times as large: it averages over queries and sums over keys.
AttentionMap coarser(const AttentionMap& map, std::size_t by) {
  AttentionMap out{.layer = map.layer,
                   .head = map.head,
                   .side = map.side / by,
                   .block = map.block * by,
                   .mass = {}};
  out.mass.resize(out.side * out.side);
  for (std::size_t row = 0; row < out.side * by; ++row) {
    for (std::size_t column = 0; column < out.side * by; ++column) {
      out.mass[row / by * out.side + column / by] +=
          map.mass[row * map.side + column] / static_cast<float>(by);
    }
  }
  return out;
}

void add_map(const AttentionMap& map, const Residency* unit, FigureData& data) {
  const auto size = static_cast<double>(map.block);
  for (std::size_t row = 0; row < map.side; ++row) {
    const double query = (static_cast<double>(row) + 0.5) * size;
    for (std::size_t column = 0; column < map.side; ++column) {
      const double key = (static_cast<double>(column) + 0.5) * size;
      if (column > row) {
        data.empty_row({key, query, not_measured, 1});
        continue;
      }
      const double mass = std::max<double>(map.mass[row * map.side + column], floor_mass);
      const double share = unit == nullptr ? 1 : resident_share(*unit, map.block, row, column);
      data.row({key, query, mass, share});
    }
  }
}

}  // namespace

Figure attention_figure(const Sweep& sweep) {
  Figure figure{.name = "attention",
                .title = "One head's attention, and the part that each policy kept",
                .caption = {}};
  const AttentionMap& whole = sweep.result->map;
  if (whole.side < 2 || whole.block == 0 || whole.mass.size() != whole.side * whole.side) {
    return figure;
  }
  const AttentionMap map = coarser(whole, (whole.side + most_blocks - 1) / most_blocks);
  std::vector<Panel> panels = panels_of(sweep);
  const std::size_t policies = panels.size() - 1;
  panels.resize(std::min(panels.size(), most_panels));
  const double side = panels.size() > 9 ? 220 : 290;
  Grid grid = small_multiples(panels.size(), side, side);
  grid.right = 96;
  grid.fit(sweep.page);
  panels.resize(grid.keep_to_a_page());
  figure.width = grid.width();
  figure.height = grid.height();
  FigureData data({"key", "query", "mass", "share_resident"});
  std::string plots;
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const std::string name = i == 0 ? "all keys" : panels[i].line->label;
    const std::string block = data.begin(name);
    add_map(map, panels[i].unit, data);
    plots +=
        grid.place(i) + panel_title(name, grid.panel_width) +
        axis_label('x', grid.lowest(i), "key position, tokens") +
        axis_label('y', grid.first_in_row(i),
                   fitting(grid.panel_height, {"query position, tokens", "query, tokens"})) +
        (i + 1 == std::min(panels.size(), grid.columns) ? "set colorbox\n" : "unset colorbox\n") +
        "plot " + block + " using 1:2:3 with image notitle" +
        (i == 0 ? ""
                : ", " + block +
                      " using 1:2:(235):(235):(235):(255*(1-$4)**2) with rgbalpha notitle") +
        "\n";
  }
  data.finish(figure);
  const std::string tokens = std::to_string(map.side * map.block);
  figure.body = "set multiplot\n" + plain_axes() + "unset key\n" + even_palette() +
                "set logscale cb\nset cbrange [" + shortest(floor_mass) +
                ":1]\nset format cb '10^{%L}'\nset cblabel 'mass on a block of keys'\n" +
                "set xrange [0:" + tokens + "]\nset yrange [" + tokens + ":0]\n" +
                token_tics('x', map.side * map.block, 3) +
                token_tics('y', map.side * map.block, 5) + plots;
  figure.caption =
      "Dense attention of layer " + std::to_string(map.layer) + ", query head " +
      std::to_string(map.head) +
      (map.layer > 0 ? " (above layer 0, the head with the most mass on position 0)" : "") +
      ": mean over " + std::to_string(map.block) + " queries of the mass on " +
      std::to_string(map.block) +
      " keys, colours on a logarithmic scale. Grey covers blocks whose keys had been "
      "evicted before the query, and dims those of which some were left. First seed, "
      "budget " +
      std::to_string(sweep.budget) + ". " + drawn_of(panels.size() - 1, policies) +
      subject_of(*sweep.result) + ".";
  return figure;
}

}  // namespace kv::reports
