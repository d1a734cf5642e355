#include "kvcheck/reports/compare/measured_values.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "kvcheck/reports/numbers/summary.h"
#include "kvcheck/reports/tables/closed_loop_tables.h"

namespace kv::reports {

CellResult of_layer(const CellResult& cell, std::size_t layer) {
  CellResult one;
  one.cell = cell.cell;
  const auto copy = [layer](const auto& from, auto& to) {
    std::ranges::copy_if(from, std::back_inserter(to),
                         [layer](const auto& part) { return part.layer == layer; });
  };
  copy(cell.heads, one.heads);
  // A unit of all layers names the first one, and is no more its than another's.
  if (cell.cell.spec.unit == Unit::model) return one;
  copy(cell.units, one.units);
  copy(cell.bounds, one.bounds);
  return one;
}

double replayed(const AfterLoss& after, const CellResult& cell, std::string_view name) {
  if (name == "moved_rows" && cell.units.empty() && !cell.summary) return not_measured;
  if (name == "moved_rows") return static_cast<double>(sizes_of(cell).moved);
  const HeadMetrics means = after.of(means_of(cell));
  if (name == "retained_mass") return means.retained_mass;
  if (name == "optimum_share") {
    const double optimum = after_loss(oracle_of(cell), after).optimum;
    return optimum_share_of(cell.cell.spec, means.retained_mass, optimum);
  }
  if (name == "topk_overlap") return means.topk_overlap;
  if (name == "output_error") return means.output_error;
  return kl_is_own_number(cell.cell.spec) ? means.kl_to_dense : not_measured;
}

double evaluated(const ClosedLoopResult& text, const ClosedLoopCell& cell, std::string_view name) {
  if (name == "open_loop_mass") return cell.retained_mass_after(text.tokens);
  if (name == "loss_after") return std::log(cell.perplexity_after());
  if (name == "loss_over_dense") {
    return std::log(cell.perplexity_after()) - std::log(dense_perplexity_after(text, cell));
  }
  if (name == "loss") return cell.targets() == 0 ? not_measured : std::log(cell.perplexity());
  constexpr std::size_t near = 64;
  std::size_t asked = 0;
  std::size_t right = 0;
  for (const RecallBin& bin : cell.recall) {
    if (name == "recall_near" && bin.last > near) continue;
    if (name == "recall_far" && bin.first < near) continue;
    asked += bin.asked;
    right += bin.right;
  }
  return asked == 0 ? not_measured : static_cast<double>(right) / static_cast<double>(asked);
}

// The system does not always report the memory of a process, and no time is 0.
double timed(const TimedCell& cell, std::string_view name) {
  double value = static_cast<double>(cell.peak_bytes);
  if (name == "first_token_s") value = cell.first_token_s;
  if (name == "token_s") value = cell.token_s;
  if (name == "attention_s") value = cell.attention_s;
  if (name == "kv_bytes") value = static_cast<double>(cell.kv_bytes);
  return value > 0 ? value : not_measured;
}

bool stored_more(const CellResult& cell) {
  const Spec& spec = cell.cell.spec;
  return !spec.bounded() || sizes_of(cell).stored_peak > spec.budget + 1U;
}

}  // namespace kv::reports
