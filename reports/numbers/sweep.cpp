#include "kvcheck/reports/numbers/sweep.h"

#include <algorithm>

#include "kvcheck/reports/numbers/labels.h"

namespace kv::reports {

const SpecSummary* Sweep::at_budget(const Line& line) const {
  for (const std::size_t i : line.specs) {
    if (!specs[i].spec.bounded() || specs[i].spec.budget == budget) return &specs[i];
  }
  return nullptr;
}

std::vector<const CellResult*> Sweep::cells(const SpecSummary& spec) const {
  std::vector<const CellResult*> out;
  for (const std::size_t i : spec.cells) out.push_back(&result->cells[i]);
  return out;
}

bool covers(
    const TraceInfo& trace, Unit kind, const Residency& unit, std::size_t layer, std::size_t head) {
  if (kind == Unit::model) return true;
  if (unit.layer != layer) return false;
  if (kind == Unit::layer) return true;
  if (kind == Unit::head) return unit.head == head;
  return kv_head_of(trace, unit.head) == kv_head_of(trace, head);
}

Sweep sweep_of(const ReplayResult& result) {
  Sweep sweep{.result = &result, .specs = summarise(result), .lines = {}};
  std::vector<Spec> specs;
  for (const SpecSummary& summary : sweep.specs) specs.push_back(summary.spec);
  sweep.lines = lines_of(specs, labels_of(specs));
  sweep.budget = middle_budget(specs);
  std::vector<double> kept;
  for (const Line& line : sweep.lines) {
    const SpecSummary* const spec = sweep.at_budget(line);
    kept.push_back(spec == nullptr ? not_measured : spec->after.retained_mass.mean);
  }
  highlight(sweep.lines, kept);
  return sweep;
}

}  // namespace kv::reports
