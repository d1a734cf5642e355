#include <algorithm>

#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/figures/figures.h"
#include "kvcheck/reports/plot/legend.h"
#include "kvcheck/reports/plot/plot_text.h"

namespace kv::reports {
namespace {

// The number of tokens, over units and seeds, by the age at which they were evicted or, still
// resident, last seen.
struct Ages {
  std::vector<double> evicted;  // [tokens + 1]
  std::vector<double> resident;
};

Ages ages_of(const Sweep& sweep, const SpecSummary& summary) {
  const std::size_t tokens = sweep.result->trace.tokens;
  Ages ages{.evicted = std::vector<double>(tokens + 1),
            .resident = std::vector<double>(tokens + 1)};
  for (const CellResult* cell : sweep.cells(summary)) {
    if (cell->lifetimes.size() != tokens + 1 || cell->kept.size() != tokens) continue;
    for (std::size_t age = 0; age <= tokens; ++age) {
      ages.evicted[age] += static_cast<double>(cell->lifetimes[age]);
      if (age < tokens) ages.resident[tokens - age] += cell->kept[age];
    }
  }
  return ages;
}

// The product-limit estimate (Kaplan and Meier): a token that is still resident at the end counts
// up to the age at which it was last seen. There is one point at each age at which a token was
// evicted.
void add_survival(const Ages& ages, FigureData& data) {
  double at_risk = 0;
  for (std::size_t age = 0; age < ages.evicted.size(); ++age) {
    at_risk += ages.evicted[age] + ages.resident[age];
  }
  double surviving = 1;
  data.row({1, 1});
  for (std::size_t age = 0; age < ages.evicted.size() && at_risk > 0; ++age) {
    if (ages.evicted[age] > 0) {
      surviving *= 1 - ages.evicted[age] / at_risk;
      data.row({static_cast<double>(std::max<std::size_t>(1, age)), surviving});
    }
    at_risk -= ages.evicted[age] + ages.resident[age];
  }
  data.row({static_cast<double>(ages.evicted.size() - 1), surviving});
}

}  // namespace

Figure lifetime_figure(const Sweep& sweep) {
  Figure figure{.name = "lifetimes", .title = "Lifetimes of tokens", .caption = {}};
  std::vector<Line> shown;
  std::vector<std::string> parts;
  FigureData data({"age", "share_still_resident"});
  for (const Line& line : in_drawing_order(sweep.lines)) {
    const SpecSummary* summary = sweep.at_budget(line);
    if (summary == nullptr || !summary->spec.bounded()) continue;
    const Ages ages = ages_of(sweep, *summary);
    if (std::ranges::all_of(ages.evicted, [](double n) { return n == 0; })) continue;
    const std::string block = data.begin(line.label);
    add_survival(ages, data);
    shown.push_back(line);
    parts.push_back(block + " using 1:2 with steps" + line_style(line.look) +
                    curve_title(line.label));
  }
  if (parts.empty()) return figure;
  data.finish(figure);
  Grid grid{.panels = 1, .columns = 1, .panel_width = 560, .panel_height = 280};
  grid.fit(sweep.page);
  const std::string legend = add_legend(shown, grid, Swatch::line);
  figure.width = grid.width();
  figure.height = grid.height();
  figure.body = plain_axes() + grid.place(0) + legend + "set logscale x 2\nset xrange [" +
                std::to_string(std::max(1U, sweep.budget / 8)) + ":" +
                std::to_string(sweep.result->trace.tokens) +
                "]\nset yrange [0:1]\nset xlabel 'age, tokens since arrival'\n"
                "set ylabel 'share still resident'\nset grid ytics lc rgb '#e4e4e4' lw 1\nplot " +
                join(parts, ", ") + "\n";
  figure.caption =
      "Share of tokens that are still resident at an age (product-limit estimate over all units "
      "and seeds: a token that is resident at the end counts up to its last known age), at "
      "budget " +
      std::to_string(sweep.budget) + ". " + subject_of(*sweep.result) + ".";
  return figure;
}

}  // namespace kv::reports
