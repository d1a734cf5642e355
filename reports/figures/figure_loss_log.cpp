#include "kvcheck/reports/figures/figure_loss_log.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "kvcheck/base/text/text.h"
#include "kvcheck/policies/registry/registry.h"
#include "kvcheck/reports/numbers/labels.h"
#include "kvcheck/reports/numbers/lines.h"
#include "kvcheck/reports/plot/legend.h"
#include "kvcheck/reports/plot/plot_text.h"
#include "kvcheck/reports/plot/position_plot.h"
#include "kvcheck/reports/tables/closed_loop_tables.h"

namespace kv::reports {
namespace {

constexpr std::size_t step = 64;  // targets; the width of a point is a multiple of it

constexpr auto benchmark_names = std::array<std::pair<std::string_view, std::string_view>, 3>{{
    {"transformers", "dense"},
    {"windowed", "window"},
    {"attention_sinks", "streaming"},
}};

// The policy of that name; otherwise the next policy of the registry that no label names.
const PolicyEntry* policy_of(std::string_view label, std::set<const PolicyEntry*>& taken) {
  const auto known = std::ranges::find(benchmark_names, label,
                                       &std::pair<std::string_view, std::string_view>::first);
  const PolicyEntry* named = find_policy(known == benchmark_names.end() ? label : known->second);
  if (named != nullptr) return named;
  for (const PolicyEntry& entry : policy_registry()) {
    if (taken.insert(&entry).second) return &entry;
  }
  return &policy_registry().front();
}

// One line per label that any of the models has.
std::vector<Line> lines_of_logs(std::span<const LossLogs> models) {
  std::set<std::string> labels;
  for (const LossLogs& model : models) {
    for (const LossLog& log : model.logs) labels.insert(log.label);
  }
  std::set<const PolicyEntry*> taken;
  for (const std::string& label : labels) taken.insert(find_policy(label));
  for (const auto& [name, policy] : benchmark_names) taken.insert(find_policy(policy));
  std::vector<Line> lines;
  for (const std::string& label : labels) {
    const PolicyEntry* policy = policy_of(label, taken);
    lines.push_back({.label = label, .policy = policy, .look = look_of(policy, 0), .specs = {}});
  }
  return lines;
}

std::vector<PositionCurve> curves_of(const LossLogs& model, const std::vector<Line>& lines) {
  std::vector<PositionCurve> curves;
  for (const LossLog& log : model.logs) {
    const auto line = std::ranges::find(lines, log.label, &Line::label);
    curves.push_back({.label = log.label, .look = line->look, .series = log.series});
  }
  return curves;
}

std::size_t longest_of(const LossLogs& model) {
  std::size_t longest = 0;
  for (const LossLog& log : model.logs) longest = std::max(longest, log.length());
  return longest;
}

// One range for all panels, in whole powers of ten.
std::string perplexity_range(std::span<const LossLogs> models, std::size_t width) {
  double least = std::numeric_limits<double>::infinity();
  double most = 1;
  for (const LossLogs& model : models) {
    for (const LossLog& log : model.logs) {
      for (const LossPoint& run : runs_of(log.series, width)) {
        const double perplexity = perplexity_of(run.nats, run.targets);
        least = std::min(least, perplexity);
        most = std::max(most, perplexity);
      }
    }
  }
  const double bottom = std::pow(10, std::floor(std::log10(least)));
  const double top = std::max(10 * bottom, std::pow(10, std::ceil(std::log10(most))));
  return "set yrange [" + shortest(bottom) + ":" + shortest(top) + "]\n";
}

}  // namespace

Figure loss_log_figure(std::span<const LossLogs> models) {
  Figure figure{.name = "perplexity", .title = "Perplexity of logged models", .caption = {}};
  const std::vector<Line> lines = lines_of_logs(models);
  std::size_t longest = 0;
  for (const LossLogs& model : models) longest = std::max(longest, longest_of(model));
  const std::size_t width = targets_of_point(longest, step);
  Grid grid = small_multiples(models.size(), models.size() == 1 ? 640 : 360, 300);
  grid.gap = 44;
  const std::string legend = add_legend(lines, grid);
  figure.width = grid.width();
  figure.height = grid.height();
  std::vector<std::string> columns = position_columns();
  columns.insert(columns.begin(), "model");  // the word of the panel
  FigureData data(columns);
  figure.body = "set multiplot\n" + plain_axes() + grid_lines() + "set logscale y\n" +
                perplexity_range(models, width) + legend;
  for (std::size_t i = 0; i < models.size(); ++i) {
    const LossLogs& model = models[i];
    figure.body += grid.place(i) + panel_title(model.name, grid.panel_width) +
                   axis_label('y', grid.first_in_row(i), "perplexity") +
                   axis_label('x', true, "position, tokens") +
                   "set xrange [0:" + std::to_string(longest_of(model)) + "]\n" +
                   token_tics('x', longest_of(model), 5) +
                   position_panel(curves_of(model, lines), width, data, model.name);
    figure.body += "\n" + std::string(legend_done);
  }
  data.finish(figure);
  figure.caption = "Perplexity over runs of " + with_commas(width) +
                   " targets, on a logarithmic axis, from logs that other programs wrote of models "
                   "that kvcheck did not run.";
  return figure;
}

}  // namespace kv::reports
