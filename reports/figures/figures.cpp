#include "kvcheck/reports/figures/figures.h"

#include "kvcheck/base/text/text.h"

namespace kv::reports {
namespace {

// The sentence that names the lines which figures of one budget cannot show, after a blank.
std::string without_budget(const Sweep& sweep) {
  std::vector<std::string> labels;
  for (const Line& line : sweep.lines) {
    if (sweep.at_budget(line) == nullptr) labels.push_back(line.label);
  }
  if (labels.empty()) return "";
  return " Not shown, because this is not their budget: " + join(labels, ", ") + ".";
}

}  // namespace

std::vector<Figure> figures_of(const ReplayResult& result, Page page, const Renaming& renaming) {
  Sweep sweep = sweep_of(result);
  sweep.page = page;
  rename(sweep.lines, renaming, [&](std::size_t i) -> const Spec& { return sweep.specs[i].spec; });
  std::vector<Figure> figures;
  const auto add = [&](Figure figure) {
    if (!figure.body.empty()) figures.push_back(std::move(figure));
  };
  for (const auto make : {budget_figure, oracle_figure}) add(make(sweep));
  const std::string left_out = without_budget(sweep);
  for (const auto make : {stream_figure, sizes_figure, residency_figure, inclusion_figure,
                          attention_figure, lifetime_figure, heads_figure}) {
    Figure figure = make(sweep);
    figure.caption += left_out;
    add(std::move(figure));
  }
  return figures;
}

}  // namespace kv::reports
