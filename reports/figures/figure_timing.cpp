#include "kvcheck/reports/figures/figure_timing.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <utility>

#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/numbers/labels.h"
#include "kvcheck/reports/numbers/timed_medians.h"
#include "kvcheck/reports/plot/legend.h"
#include "kvcheck/reports/plot/plot_text.h"

namespace kv::reports {
namespace {

struct Panel {
  const char* name;
  const char* label;
  const char* short_label;  // for a low panel
  std::function<double(const TimedCell&)> value;
};

// A value of 0 cannot be drawn on a logarithmic axis.
double positive(double value) {
  return value > 0 ? value : not_measured;
}

std::vector<Panel> panels() {
  return {
      {"token", "ms per token", "ms per token",
       [](const TimedCell& cell) { return positive(1e3 * cell.token_s); }},
      {"attention", "ms in attention", "ms, attention",
       [](const TimedCell& cell) { return positive(1e3 * cell.attention_s); }},
      {"kv", "MiB of keys and values", "MiB stored",
       [](const TimedCell& cell) {
         return positive(static_cast<double>(cell.kv_bytes) / (1024.0 * 1024));
       }},
      {"peak", "MiB of the process", "MiB in all",
       [](const TimedCell& cell) {
         return positive(static_cast<double>(cell.peak_bytes) / (1024.0 * 1024));
       }},
  };
}

// Lines by policy and budget with their cells by length, and words for what all of them share.
struct TimedLines {
  std::vector<Line> lines;
  std::string common{};
};

TimedLines lines_of_timings(const TimingResult& result, const Renaming& renaming) {
  std::vector<Spec> specs;
  std::set<std::uint32_t> chunks;
  std::set<std::uint32_t> budgets;
  for (const TimedCell& cell : result.cells) {
    specs.push_back(cell.cell.spec);
    chunks.insert(cell.cell.spec.chunk);
    if (cell.cell.spec.bounded()) budgets.insert(cell.cell.spec.budget);
  }
  TimedLines timed;
  if (chunks.size() == 1) {
    timed.common += "; prompts in chunks of " + std::to_string(*chunks.begin());
    for (Spec& spec : specs) spec.chunk = 1;
  }
  const auto budget_of = [&](std::size_t i) {
    return budgets.size() > 1 && specs[i].bounded() ? " (" + std::to_string(specs[i].budget) + ")"
                                                    : std::string();
  };
  std::vector<std::string> labels = labels_of(specs);
  for (std::size_t i = 0; i < specs.size(); ++i) labels[i] += budget_of(i);
  if (budgets.size() == 1) timed.common += "; budget " + std::to_string(*budgets.begin());
  timed.lines = lines_of(specs, labels);
  rename(timed.lines, renaming,
         [&](std::size_t i) -> const Spec& { return result.cells[i].cell.spec; });
  for (Line& line : timed.lines) {
    if (line.label != labels[line.specs.front()]) line.label += budget_of(line.specs.front());
    std::ranges::stable_sort(line.specs, {}, [&](std::size_t i) { return result.cells[i].length; });
  }
  return timed;
}

// Tics whose numbers would touch are left out.
std::string length_axis(const std::set<std::size_t>& lengths, double pixels) {
  constexpr double digit = 9;
  const double first = static_cast<double>(*lengths.begin()) / 1.3;
  const double last = static_cast<double>(*lengths.rbegin()) * 1.3;
  std::vector<std::string> words;
  double end = -2 * digit;  // of the number before
  for (const std::size_t length : lengths) {
    const std::string word = std::to_string(length);
    const double half = digit * static_cast<double>(word.size()) / 2;
    const double at =
        pixels * std::log(static_cast<double>(length) / first) / std::log(last / first);
    if (at - half < end + digit) continue;
    end = at + half;
    words.push_back(word);
  }
  return "set logscale x 2\nset xtics (" + join(words, ",") + ")\nset xrange [" + shortest(first) +
         ":" + shortest(last) + "]\n";
}

}  // namespace

Figure timing_figure(const TimingResult& timings, Page page, const Renaming& renaming) {
  const TimingResult result = medians_of(timings);
  Figure figure{.name = "speed", .title = "Time and memory against length", .caption = {}};
  std::set<std::size_t> lengths;
  for (const TimedCell& cell : result.cells) lengths.insert(cell.length);
  if (lengths.size() < 2) return figure;
  const TimedLines timed = lines_of_timings(result, renaming);
  const std::vector<Line>& lines = timed.lines;
  Grid grid{.panels = 4,
            .columns = 2,
            .panel_width = 320,
            .panel_height = 220,
            .gap = labelled_gap,
            .may_end = true};
  grid.fit(page);
  const std::string legend = add_legend(lines, grid);
  figure.width = grid.width();
  figure.height = grid.height();
  figure.body = "set multiplot\n" + plain_axes() + "set grid ytics lc rgb '#e4e4e4' lw 1\n" +
                legend + length_axis(lengths, grid.panel_width) + "set logscale y\n";
  FigureData data({"measure", "length", "value"});
  std::size_t place = 0;
  std::vector<std::string> others;
  for (const Panel& panel : panels()) {
    if (place == grid.panels) {
      others.emplace_back(panel.label);
      continue;
    }
    std::vector<std::string> parts;
    for (const Line& line : lines) {
      const std::string block = data.begin(line.label, panel.name);
      for (const std::size_t i : line.specs) {
        data.row({static_cast<double>(result.cells[i].length), panel.value(result.cells[i])});
      }
      parts.push_back(block + " using 1:2 with linespoints" + point_style(line.look) +
                      curve_title(line.label));
    }
    figure.body += grid.place(place) + axis_label('x', grid.lowest(place), "tokens before") +
                   fitting_ylabel(grid, {panel.label, panel.short_label}) + "plot " +
                   join(parts, ", ") + "\n" + std::string(legend_done);
    ++place;
  }
  data.finish(figure);
  const std::size_t runs = timed_runs(timings);
  figure.caption =
      left_out(others) +
      "The median time of a token after a prompt, how much of it is attention, the bytes of "
      "keys and values held, and the largest memory of the process (weights, and what earlier "
      "rows left behind, included), all axes logarithmic; where there are several budgets, in "
      "parentheses. Times are those of one machine, which may have run other work. " +
      result.model + "; weights " + result.weights + ", keys and values " + result.storage +
      timed.common + (runs < 2 ? "" : "; medians of " + std::to_string(runs) + " runs") + ".";
  return figure;
}

}  // namespace kv::reports
