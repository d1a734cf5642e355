#include <algorithm>

#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/figures/figures.h"
#include "kvcheck/reports/plot/plot_text.h"

namespace kv::reports {
namespace {

constexpr std::size_t most_rows = 512;

struct Panel {
  const Line* line = nullptr;
  const Residency* unit = nullptr;
};

// One unit per policy: the one that holds the head of the attention figure or, if its residency was
// not recorded, the last recorded one.
std::vector<Panel> panels_of(const Sweep& sweep) {
  std::vector<Panel> panels;
  for (const Line& line : sweep.lines) {
    const SpecSummary* summary = sweep.at_budget(line);
    if (summary == nullptr || !summary->spec.bounded()) continue;
    const CellResult& cell = *sweep.cells(*summary)[0];
    if (cell.residency.empty()) continue;
    const AttentionMap& map = sweep.result->map;
    const auto requested = [&](const Residency& r) {
      return covers(sweep.result->trace, summary->spec.unit, r, map.layer, map.head);
    };
    const auto found = std::ranges::find_if(cell.residency, requested);
    panels.push_back({&line, found == cell.residency.end() ? &cell.residency.back() : &*found});
  }
  return panels;
}

std::string name_of(const Residency& unit) {
  return "layer " + std::to_string(unit.layer) + ", query head " + std::to_string(unit.head);
}

// Which unit each panel shows, by the first head it holds.
std::string units_of(const std::vector<Panel>& panels) {
  const std::string first = name_of(*panels[0].unit);
  const auto same = [&](const Panel& panel) { return name_of(*panel.unit) == first; };
  if (std::ranges::all_of(panels, same)) return "The unit that begins at " + first;
  std::vector<std::string> parts;
  for (const Panel& panel : panels)
    parts.push_back(panel.line->label + ": " + name_of(*panel.unit));
  return "The units begin at (" + join(parts, "; ") + ")";
}

void add_rows(const Residency& unit, std::size_t step, FigureData& data) {
  const std::size_t tokens = unit.evicted_at.size();
  for (std::size_t p = 0; p < tokens; p += step) {
    const auto end = std::min<std::size_t>(unit.evicted_at[p], tokens);
    data.row({static_cast<double>(p), static_cast<double>(p)});
    data.row({static_cast<double>(std::max(p, end)), static_cast<double>(p)});
    data.gap();
  }
}

}  // namespace

Figure residency_figure(const Sweep& sweep) {
  Figure figure{.name = "residency", .title = "Residents over time", .caption = {}};
  std::vector<Panel> panels = panels_of(sweep);
  if (panels.empty()) return figure;
  const std::size_t policies = panels.size();
  const std::size_t tokens = sweep.result->trace.tokens;
  const std::size_t step = std::max<std::size_t>(1, (tokens + most_rows - 1) / most_rows);
  Grid grid = small_multiples(panels.size(), 200, 190);
  grid.fit(sweep.page);
  panels.resize(grid.keep_to_a_page());
  figure.width = grid.width();
  figure.height = grid.height();
  FigureData data({"time", "position"});
  std::string plots;
  const double thickness = std::clamp(2.0 * grid.panel_height * static_cast<double>(step) /
                                          static_cast<double>(std::max<std::size_t>(1, tokens)),
                                      0.4, 4.0);
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const std::string block = data.begin(panels[i].line->label);
    add_rows(*panels[i].unit, step, data);
    plots += grid.place(i) + panel_title(panels[i].line->label, grid.panel_width) +
             axis_label('x', grid.lowest(i), "time, tokens seen") +
             axis_label('y', grid.first_in_row(i), "position, tokens") + "plot " + block +
             " using 1:2 with lines lc rgb '" + std::string(panels[i].line->look.colour) + "' lw " +
             shortest(thickness) + " notitle\n";
  }
  data.finish(figure);
  const std::string range = "[0:" + std::to_string(tokens) + "]\n";
  figure.body = "set multiplot\n" + plain_axes() + "unset key\nset xrange " + range +
                "set yrange " + range + token_tics('x', tokens, 3) + token_tics('y', tokens, 5) +
                plots;
  figure.caption =
      drawn_of(panels.size(), policies) +
      "A row is a token, coloured from its arrival until it was evicted. " + units_of(panels) +
      "; first seed, budget " + std::to_string(sweep.budget) + ", " + subject_of(*sweep.result) +
      "." + (step > 1 ? " One of every " + std::to_string(step) + " positions is drawn." : "");
  return figure;
}

}  // namespace kv::reports
