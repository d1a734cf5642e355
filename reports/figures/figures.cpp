#include "kvcheck/reports/figures/figures.h"

namespace kv::reports {

std::vector<Figure> figures_of(const ReplayResult& result,
                               double page_width,
                               const Renaming& renaming) {
  Sweep sweep = sweep_of(result);
  sweep.page_width = page_width;
  rename(sweep.lines, renaming, [&](std::size_t i) -> const Spec& { return sweep.specs[i].spec; });
  std::vector<Figure> figures;
  for (const auto make :
       {budget_figure, oracle_figure, stream_figure, sizes_figure, residency_figure,
        inclusion_figure, attention_figure, lifetime_figure, heads_figure}) {
    Figure figure = make(sweep);
    if (!figure.body.empty()) figures.push_back(std::move(figure));
  }
  return figures;
}

}  // namespace kv::reports
