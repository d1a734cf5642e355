#include <algorithm>
#include <cmath>

#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/figures/figures.h"
#include "kvcheck/reports/numbers/inclusion.h"
#include "kvcheck/reports/plot/plot_text.h"

namespace kv::reports {
namespace {

constexpr std::size_t most_bins = 24;

// How often each position that entered the middle was kept, over all seeds and units.
struct Kept {
  std::uint64_t entered = 0;
  std::uint64_t trials = 0;         // units times seeds, of each position
  std::vector<std::uint64_t> hits;  // [entered]
};

Kept kept_of(const Sweep& sweep, const SpecSummary& summary) {
  const std::size_t tokens = sweep.result->trace.tokens;
  Kept kept{.entered = entered_at_end(summary.spec, tokens), .hits = {}};
  kept.hits.resize(kept.entered);
  for (const CellResult* cell : sweep.cells(summary)) {
    if (cell->kept.size() != tokens) continue;
    kept.trials += cell->units.size();
    for (std::uint64_t i = 0; i < kept.entered; ++i) {
      kept.hits[i] +=
          std::min<std::uint64_t>(cell->kept[summary.spec.sinks + i], cell->units.size());
    }
  }
  return kept;
}

// Bins of equal width, the last one shorter; each with its share, interval and mean theory.
double add_bins(const SpecSummary& summary, const Kept& kept, FigureData& data) {
  const std::vector<double> theory = inclusion_theory(summary.spec, kept.entered);
  const std::uint64_t width =
      std::max<std::uint64_t>(1, (kept.entered + most_bins - 1) / most_bins);
  double highest = 0;
  for (std::uint64_t begin = 0; begin < kept.entered; begin += width) {
    const std::uint64_t end = std::min(kept.entered, begin + width);
    std::uint64_t hits = 0;
    double expected = theory.empty() ? not_measured : 0;
    for (std::uint64_t i = begin; i < end; ++i) {
      hits += kept.hits[i];
      if (!theory.empty()) expected += theory[i] / static_cast<double>(end - begin);
    }
    const Interval share = share_interval(hits, kept.trials * (end - begin));
    const double middle = summary.spec.sinks + static_cast<double>(begin + end - 1) / 2;
    data.row({middle, share.mean, share.low, share.high, expected});
    highest = std::max({highest, share.high, std::isfinite(expected) ? expected : 0.0});
  }
  return highest;
}

struct Panel {
  const Line* line = nullptr;
  const SpecSummary* summary = nullptr;
  Kept kept;
};

std::vector<Panel> panels_of(const Sweep& sweep) {
  std::vector<Panel> panels;
  for (const Line& line : sweep.lines) {
    const SpecSummary* summary = sweep.at_budget(line);
    if (summary == nullptr || !summary->spec.bounded() || summary->spec.middle() == 0) continue;
    Kept kept = kept_of(sweep, *summary);
    if (kept.trials > 0 && kept.entered > 0) panels.push_back({&line, summary, std::move(kept)});
  }
  return panels;
}

std::string plot_of(const Panel& panel, const std::string& block) {
  const std::string colour = " lc rgb '" + std::string(panel.line->look.colour) + "'";
  std::string text =
      "plot " + block + " using 1:2:3:4 with yerrorbars" + colour + " lw 1.2 pt 7 ps 0.5 notitle";
  if (inclusion_law(panel.summary->spec) != InclusionLaw::none) {
    text += ", " + block + " using 1:5 with lines lc rgb '#000000' lw 1.2 notitle";
  }
  return text + "\n";
}

}  // namespace

Figure inclusion_figure(const Sweep& sweep) {
  Figure figure{
      .name = "inclusion", .title = "Tokens in the middle at the end of the stream", .caption = {}};
  std::vector<Panel> panels = panels_of(sweep);
  if (panels.empty()) return figure;
  const std::size_t policies = panels.size();
  Grid grid = small_multiples(panels.size(), 190, 170);
  grid.gap = 52;
  grid.fit(sweep.page);
  panels.resize(grid.keep_to_a_page());
  figure.width = grid.width();
  figure.height = grid.height();
  FigureData data({"middle_position", "share", "low", "high", "theory"});
  std::vector<std::string> blocks;
  std::vector<double> highest;
  for (const Panel& panel : panels) {
    blocks.push_back(data.begin(panel.line->label));
    highest.push_back(add_bins(*panel.summary, panel.kept, data));
  }
  data.finish(figure);
  figure.body = "set multiplot\n" + plain_axes() +
                "unset key\nset xrange [0:" + std::to_string(sweep.result->trace.tokens) + "]\n" +
                token_tics('x', sweep.result->trace.tokens, 3);
  for (std::size_t i = 0; i < panels.size(); ++i) {
    figure.body += grid.place(i) + panel_title(panels[i].line->label, grid.panel_width) +
                   axis_label('x', grid.lowest(i), "position, tokens") +
                   (grid.first_in_row(i)
                        ? fitting_ylabel(grid, {"share resident at the end", "share resident"})
                        : "unset ylabel\n") +
                   "set yrange [0:" + shortest(std::min(1.0, 1.08 * highest[i])) + "]\n" +
                   round_tics('y', highest[i], 5) + plot_of(panels[i], blocks[i]);
  }
  figure.caption =
      "Share of caches (units and seeds) in which a position that had left the recent window was "
      "still resident after the last token, in bins of neighbouring positions, at budget " +
      std::to_string(sweep.budget) +
      ". Bars: Wilson 95 % intervals, as if every position, unit and seed were independent. "
      "Black line: what the policy claims (uniform: capacity / tokens that entered; "
      "age-geometric: each decision evicts each token that it may evict with equal "
      "probability); a policy without a line claims no distribution. Each panel has its own "
      "scale. Sinks and recent tokens, which are always resident, are left out. " +
      drawn_of(panels.size(), policies) + subject_of(*sweep.result) + ".";
  return figure;
}

}  // namespace kv::reports
