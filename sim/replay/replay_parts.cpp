// The parts of a replay as bytes, and back. Every bit is kept, because a replay that continues from
// kept parts must have the same results as one that was never cut short.
#include <bit>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "kvcheck/base/kept_parts.h"
#include "kvcheck/base/packed_bytes.h"
#include "kvcheck/sim/replay/replay_task.h"

namespace kv {
namespace {

// Calls field(x) on every number of a struct. Writer and reader share these lists, so that they
// cannot differ.
//
// The four metrics. In series, what differs from one point to the next: often these alone, and
// often nothing.
template <typename Metrics, typename Field>
void each_share(Metrics& metrics, const Field& field) {
  field(metrics.retained_mass);
  field(metrics.kl_to_dense);
  field(metrics.topk_overlap);
  field(metrics.output_error);
}

template <typename Head, typename Field>
void each_field_of_head(Head& head, const Field& field) {
  field(head.layer);
  field(head.head);
  each_share(head.metrics, field);
  each_share(head.half_widths, field);
}

template <typename Unit, typename Field>
void each_field_of_unit(Unit& unit, const Field& field) {
  field(unit.layer);
  field(unit.head);
  field(unit.stored_mean);
  field(unit.stored_peak);
  field(unit.visible_mean);
  field(unit.visible_peak);
  field(unit.kept_at_end);
  field(unit.evictions);
  field(unit.trims);
  field(unit.moved);
  field(unit.lifetime_mean);
}

template <typename Sums, typename Field>
void each_size(Sums& sums, const Field& field) {
  field(sums.stored);
  field(sums.kept);
  field(sums.visible);
  field(sums.rows);
  field(sums.steps);
}

template <typename Facts, typename Field>
void each_field_of_facts(Facts& facts, const Field& field) {
  field(facts.layer);
  field(facts.head);
  field(facts.first_mass);
  field(facts.sinks_mass);
  field(facts.recent_mass);
  field(facts.entropy);
}

// A part of another size than this task's cannot be joined with the others.
bool fits(const CellPart& part, const Plan& plan, const Task& task) {
  const std::size_t tokens = plan.trace.info().tokens;
  const std::size_t points = (tokens + plan.series_width - 1) / plan.series_width;
  for (const auto& series : part.series) {
    if (series.size() != points) return false;
  }
  for (const Residency& unit : part.residency) {
    if (unit.evicted_at.size() != tokens) return false;
  }
  const TraceInfo& info = plan.trace.info();
  if (part.queries.size() != (samples_queries(info) ? part.series.size() : 0)) return false;
  for (const auto& queries : part.queries) {
    if (queries.size() != recorded_queries(info)) return false;
  }
  return part.heads.size() == task.lanes.size() && !part.units.empty() && !part.series.empty() &&
         part.kept.size() == tokens && part.lifetimes.size() == tokens + 1;
}

auto writing(PackedWriter& writer) {
  return [&writer](const auto& value) {
    if constexpr (std::is_floating_point_v<std::remove_cvref_t<decltype(value)>>) {
      writer.real(value);
    } else {
      writer.number(value);
    }
  };
}

auto reading(PackedReader& reader) {
  return [&reader](auto& value) {
    if constexpr (std::is_floating_point_v<std::remove_cvref_t<decltype(value)>>) {
      value = reader.real();
    } else {
      value = reader.number();
    }
  };
}

constexpr std::uint64_t same_shares = 1;
constexpr std::uint64_t same_sizes = 2;

bool equal_bits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

// Which of the two groups are those of the point before, bit by bit.
std::uint64_t same_as(const SeriesSums& a, const SeriesSums& b) {
  const bool shares =
      equal_bits(a.retained_mass, b.retained_mass) && equal_bits(a.kl_to_dense, b.kl_to_dense) &&
      equal_bits(a.topk_overlap, b.topk_overlap) && equal_bits(a.output_error, b.output_error);
  const bool sizes = equal_bits(a.stored, b.stored) && equal_bits(a.kept, b.kept) &&
                     equal_bits(a.visible, b.visible) && a.rows == b.rows && a.steps == b.steps;
  return (shares ? same_shares : 0) + (sizes ? same_sizes : 0);
}

// Series are most of a part, and writing them must cost little beside a replay of short streams.
void write_series(const std::vector<SeriesSums>& series, PackedWriter& writer) {
  writer.number(series.size());
  SeriesSums before;
  for (const SeriesSums& sums : series) {
    const std::uint64_t same = same_as(sums, before);
    writer.number(same);
    if ((same & same_shares) == 0) {
      each_share(sums, [&](double share) { writer.bits(share); });
    }
    if ((same & same_sizes) == 0) each_size(sums, writing(writer));
    before = sums;
  }
}

void read_series(PackedReader& reader, std::vector<SeriesSums>& series) {
  series.resize(reader.count());
  SeriesSums before;
  for (SeriesSums& sums : series) {
    sums = before;
    const std::uint64_t same = reader.number();
    if ((same & same_shares) == 0) each_share(sums, [&](double& share) { share = reader.bits(); });
    if ((same & same_sizes) == 0) each_size(sums, reading(reader));
    before = sums;
  }
}

void write_queries(const std::vector<HeadMetrics>& queries, PackedWriter& writer) {
  writer.number(queries.size());
  for (const HeadMetrics& query : queries) {
    each_share(query, [&](double share) { writer.bits(share); });
  }
}

void read_queries(PackedReader& reader, std::vector<HeadMetrics>& queries) {
  queries.resize(reader.count());
  for (HeadMetrics& query : queries) {
    each_share(query, [&](double& share) { share = reader.bits(); });
  }
}

}  // namespace

std::vector<std::byte> bytes_of(const CellPart& part) {
  PackedWriter writer;
  const auto field = writing(writer);
  writer.number(part.heads.size());
  for (const HeadResult& head : part.heads) each_field_of_head(head, field);
  writer.number(part.units.size());
  for (const UnitResult& unit : part.units) each_field_of_unit(unit, field);
  writer.number(part.series.size());
  for (const auto& series : part.series) write_series(series, writer);
  writer.number(part.queries.size());
  for (const auto& queries : part.queries) write_queries(queries, writer);
  writer.number(part.decided_on_sample ? 1 : 0);
  writer.numbers(part.kept);
  writer.numbers(part.lifetimes);
  writer.number(part.residency.size());
  for (const Residency& unit : part.residency) {
    writer.number(unit.layer);
    writer.number(unit.head);
    writer.numbers(unit.evicted_at);
  }
  return writer.take();
}

std::optional<CellPart> kept_part(const Plan& plan, const Task& task, std::size_t cell) {
  if (plan.options.parts == nullptr) return std::nullopt;
  const auto bytes = plan.options.parts->find(part_key(task, cell));
  if (!bytes) return std::nullopt;
  PackedReader reader(*bytes);
  const auto field = reading(reader);
  CellPart part;
  part.heads.resize(reader.count());
  for (HeadResult& head : part.heads) each_field_of_head(head, field);
  part.units.resize(reader.count());
  for (UnitResult& unit : part.units) each_field_of_unit(unit, field);
  part.series.resize(reader.count());
  for (auto& series : part.series) read_series(reader, series);
  part.queries.resize(reader.count());
  for (auto& queries : part.queries) read_queries(reader, queries);
  part.decided_on_sample = reader.number() != 0;
  reader.numbers(part.kept);
  reader.numbers(part.lifetimes);
  part.residency.resize(reader.count());
  for (Residency& unit : part.residency) {
    unit.layer = reader.number();
    unit.head = reader.number();
    reader.numbers(unit.evicted_at);
  }
  // A part that cannot be used is computed again.
  if (!reader.whole() || !fits(part, plan, task)) return std::nullopt;
  return part;
}

std::vector<std::byte> bytes_of(const std::vector<DenseFacts>& facts) {
  PackedWriter writer;
  writer.number(facts.size());
  for (const DenseFacts& head : facts) each_field_of_facts(head, writing(writer));
  return writer.take();
}

std::optional<std::vector<DenseFacts>> kept_facts(const Plan& plan, const Task& task) {
  if (plan.options.parts == nullptr) return std::nullopt;
  const auto bytes = plan.options.parts->find(facts_key(task));
  if (!bytes) return std::nullopt;
  PackedReader reader(*bytes);
  std::vector<DenseFacts> facts(reader.count());
  for (DenseFacts& head : facts) each_field_of_facts(head, reading(reader));
  if (!reader.whole() || facts.size() != task.lanes.size()) return std::nullopt;
  return facts;
}

std::vector<std::byte> bytes_of(const AttentionMap& map) {
  PackedWriter writer;
  writer.number(map.layer);
  writer.number(map.head);
  writer.number(map.side);
  writer.number(map.block);
  std::vector<std::uint32_t> bits;
  for (const float mass : map.mass) bits.push_back(std::bit_cast<std::uint32_t>(mass));
  writer.numbers(bits);
  return writer.take();
}

std::optional<AttentionMap> kept_map(const Plan& plan) {
  if (plan.options.parts == nullptr) return std::nullopt;
  const auto bytes = plan.options.parts->find(map_key);
  if (!bytes) return std::nullopt;
  PackedReader reader(*bytes);
  AttentionMap map;
  map.layer = reader.number();
  map.head = reader.number();
  map.side = reader.number();
  map.block = reader.number();
  std::vector<std::uint32_t> bits;
  reader.numbers(bits);
  for (const std::uint32_t one : bits) map.mass.push_back(std::bit_cast<float>(one));
  const std::size_t tokens = plan.trace.info().tokens;
  if (!reader.whole() || map.block == 0 || map.side != (tokens + map.block - 1) / map.block ||
      map.mass.size() != map.side * map.side) {
    return std::nullopt;
  }
  return map;
}

std::string part_key(const Task& task, std::size_t cell) {
  return "group " + std::to_string(task.group) + " cell " + std::to_string(cell);
}

std::string facts_key(const Task& task) {
  return "group " + std::to_string(task.group) + " dense";
}

}  // namespace kv
