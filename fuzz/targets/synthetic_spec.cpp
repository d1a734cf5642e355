#include <algorithm>

#include "kvcheck/base/check.h"
#include "kvcheck/base/kernels/kernels.h"
#include "kvcheck/cli/replay/source.h"
#include "kvcheck/fuzz/support/inputs.h"
#include "kvcheck/fuzz/support/trace_checks.h"
#include "kvcheck/fuzz/targets/targets.h"
#include "kvcheck/traces/synthetic/synthetic.h"
#include "kvcheck/traces/verify.h"

namespace kv::fuzz {
namespace {

bool is_small(const SyntheticSpec& spec) {
  return spec.tokens <= 64 && spec.layers * spec.heads <= 16 && spec.head_dim <= 128;
}

// The share of the row of query t that the plant's keys get.
double mass_on(const Plant& plant, const TensorView& rows, std::size_t head, Position t) {
  const std::size_t tokens = rows.shape[1];
  std::vector<float> row(tokens);
  const std::byte* at = rows.data + (head * tokens + t) * tokens * rows.bytes_per_number();
  kernels().widen(rows.number, at, tokens, row.data());
  double mass = 0;
  for (const PlantedKey& key : plant.keys) {
    if (key.position <= t) mass += double{row[key.position]};
  }
  return mass;
}

// Whether query t sees some keys of the plant and some others.
bool sees_both(const Plant& plant, Position t) {
  const auto visible = static_cast<std::size_t>(
      std::ranges::count_if(plant.keys, [&](const PlantedKey& key) { return key.position <= t; }));
  return visible > 0 && visible < std::size_t{t} + 1;
}

// Each query of a plant gives it the mass that the plant states, unless it sees none of its keys or
// no others. Keys that several plants share get the mass of all of them.
void check_plant(const Plant& plant, const TensorView& rows, std::size_t head) {
  KV_CHECK(plant.mass >= 0 && plant.mass <= 1);
  for (const Run& run : plant.queries) {
    for (Position t = run.first; t < run.last && t < rows.shape[1]; ++t) {
      // f16 rounds each of at most 64 shares by less than 2^-12.
      if (sees_both(plant, t)) KV_CHECK(mass_on(plant, rows, head, t) >= plant.mass - 0.02);
    }
  }
}

void check_plants(const SyntheticSpec& spec, const Trace& trace) {
  for (std::size_t layer = 0; layer < spec.layers; ++layer) {
    for (std::size_t head = 0; head < spec.heads; ++head) {
      const Planted all = planted(spec, layer, head / (spec.heads / spec.kv_heads));
      for (const Plant& plant : all.plants) check_plant(plant, trace.layer(layer).attention, head);
    }
  }
}

// Rows that are made when they are read are those that are stored.
void check_stream(const Trace& stored, const Trace& stream) {
  const TraceInfo& info = stored.info();
  for (std::size_t layer = 0; layer < info.layers.size(); ++layer) {
    const TensorView& rows = stored.layer(layer).attention;
    for (std::size_t head = 0; head < info.query_heads; ++head) {
      const auto maker = stream.row_maker(layer, head);
      for (Position t = 0; t < info.tokens; ++t) {
        std::vector<float> made(t + std::size_t{1});
        std::vector<float> read(t + std::size_t{1});
        maker->make(t, made);
        const std::size_t at = (head * info.tokens + t) * info.tokens;
        kernels().widen(rows.number, rows.data + at * rows.bytes_per_number(), read.size(),
                        read.data());
        KV_CHECK(made == read);
      }
    }
  }
}

}  // namespace

bool synthetic_spec(Input input) {
  const Result<SyntheticSpec> parsed = parse_synthetic(text_of(input));
  if (!parsed) return refused(parsed.error());
  const Result<SyntheticSpec> again = parse_synthetic(parsed->canonical());
  KV_CHECK(again.has_value() && *again == *parsed);
  KV_CHECK(again->canonical() == parsed->canonical());
  if (!is_small(*parsed)) return true;
  const Result<Trace> stream = cli::open_source("synthetic:" + std::string(text_of(input)));
  KV_CHECK(stream.has_value());
  const Trace trace = make_synthetic(*parsed);
  KV_CHECK(verify(trace).has_value());
  if (parsed->kind == TraceKind::attention) {
    check_plants(*parsed, trace);
    check_stream(trace, *stream);
  }
  try_trace(trace);
  return true;
}

}  // namespace kv::fuzz
