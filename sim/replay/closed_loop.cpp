#include "kvcheck/sim/replay/closed_loop.h"

#include <algorithm>

namespace kv {

std::size_t ClosedLoopCell::targets() const {
  std::size_t count = 0;
  for (const LossPoint& point : series) count += point.targets;
  return count;
}

double ClosedLoopCell::perplexity() const {
  double nats = 0;
  for (const LossPoint& point : series) nats += point.nats;
  return perplexity_of(nats, targets());
}

double ClosedLoopCell::perplexity_after() const {
  return targets_after == 0 ? not_measured : perplexity_of(nats_after, targets_after);
}

double ClosedLoopCell::retained_mass_after(std::size_t tokens) const {
  if (queries_after == 0) return not_measured;
  // A mass of exactly 1 remains exactly 1.
  return 1 - (1 - retained_mass) * static_cast<double>(tokens) / static_cast<double>(queries_after);
}

RecallBin ClosedLoopCell::recall_in_all() const {
  RecallBin all;
  if (recall.empty()) return all;
  all.first = recall.front().first;
  all.last = recall.back().last;
  for (const RecallBin& bin : recall) {
    all.asked += bin.asked;
    all.right += bin.right;
  }
  return all;
}

bool ClosedLoopResult::asks() const {
  return std::ranges::any_of(
      cells, [](const ClosedLoopCell& cell) { return cell.recall_in_all().asked > 0; });
}

}  // namespace kv
