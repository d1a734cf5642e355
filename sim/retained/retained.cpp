#include "kvcheck/sim/retained/retained.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "kvcheck/base/check.h"
#include "kvcheck/sim/oracle/future_mass.h"
#include "kvcheck/sim/oracle/oracle.h"
#include "kvcheck/sim/replay/dense_rows.h"

namespace kv {
namespace {

std::vector<DenseRows> open_rows(const Trace& trace,
                                 const TraceRotations& rotations,
                                 const SeenUnit& unit) {
  const RopeTable& rope = rotations.table(unit.layer);
  std::shared_ptr<const KeyValues> shared;
  if (trace.info().kind == TraceKind::qkv) {
    shared = std::make_shared<KeyValues>(trace, unit.layer,
                                         kv_head_of(trace.info(), unit.first_head), rope);
  }
  std::vector<DenseRows> rows;
  rows.reserve(unit.heads);
  for (std::size_t head = unit.first_head; head < unit.first_head + unit.heads; ++head) {
    rows.emplace_back(trace, unit.layer, head, 1, shared, rope);
  }
  return rows;
}

// The mean row of the heads, each scaled to sum to one.
Result<void> load(std::vector<DenseRows>& heads, Position query, std::vector<double>& mean) {
  mean.assign(query + std::size_t{1}, 0);
  for (DenseRows& rows : heads) {
    const auto row = rows.load(query);
    if (!row) return row.error();
    double sum = 0;
    for (const float mass : row->mass) sum += static_cast<double>(mass);
    const double scale = 1 / (sum * static_cast<double>(heads.size()));
    for (std::size_t i = 0; i < mean.size(); ++i) {
      mean[i] += scale * static_cast<double>(row->mass[i]);
    }
  }
  return {};
}

// Whether some query sees a token that the one before could have seen and did not.
bool tokens_return(const SeenUnit& unit) {
  for (std::size_t query = 1; query < unit.seen.size(); ++query) {
    const auto& before = unit.seen[query - 1];
    for (const Position token : unit.seen[query]) {
      if (token < query && !std::ranges::binary_search(before, token)) return true;
    }
  }
  return false;
}

// How many tokens each query may see, so that a cache whose tokens never return may see as many as
// this one's queries did.
std::vector<std::uint32_t> limits_of(const SeenUnit& unit) {
  std::vector<std::uint32_t> limits;
  for (const auto& seen : unit.seen) {
    limits.push_back(static_cast<std::uint32_t>(std::max<std::size_t>(1, seen.size())));
  }
  for (std::size_t query = limits.size(); query-- > 1;) {
    limits[query - 1] = std::max(limits[query - 1], limits[query] - 1);
  }
  return limits;
}

}  // namespace

Result<Retained> retained_by(const Trace& trace,
                             const TraceRotations& rotations,
                             const SeenUnit& unit,
                             bool optimum) {
  const std::size_t tokens = trace.info().tokens;
  KV_CHECK(trace.info().queries.empty() && unit.seen.size() == tokens);
  std::vector<DenseRows> heads = open_rows(trace, rotations, unit);
  const std::vector<std::uint32_t> limits = limits_of(unit);
  std::optional<FutureMass> masses;
  if (optimum && !tokens_return(unit)) masses.emplace(tokens);
  Retained result;
  PerStepTop top;
  std::vector<double> row;
  for (std::size_t query = 0; query < tokens; ++query) {
    const auto at = static_cast<Position>(query);
    if (const auto loaded = load(heads, at, row); !loaded) return loaded.error();
    for (const Position token : unit.seen[query]) result.mass += row[token];
    result.visible += static_cast<double>(unit.seen[query].size());
    result.per_step += top.retained(row, limits[query]);
    if (masses) masses->set_row(at, row);
  }
  if (masses) {
    masses->close();
    const auto best = irrevocable_optimum(*masses, limits);
    result.optimum = std::min(1.0, best->bound / static_cast<double>(tokens));
  }
  for (double* const sum : {&result.mass, &result.visible, &result.per_step}) {
    *sum /= static_cast<double>(tokens);
  }
  result.mass = std::min(1.0, result.mass);
  result.per_step = std::min(1.0, result.per_step);
  return result;
}

}  // namespace kv
