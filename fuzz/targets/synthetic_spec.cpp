#include "kvcheck/base/check.h"
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

// Each query of a plant gives it the mass that the plant states, unless it sees none of its keys or
// no others. Keys that several plants share get the mass of all of them.
void check_plants(const SyntheticSpec& spec, const Trace& trace) {
  for (std::size_t layer = 0; layer < spec.layers; ++layer) {
    for (std::size_t head = 0; head < spec.heads; ++head) {
      const std::size_t kv_head = head / (spec.heads / spec.kv_heads);
      const Planted plants = planted(spec, layer, kv_head);
      for (const Plant& plant : plants.plants) {
        KV_CHECK(plant.mass >= 0 && plant.mass <= 1);
        std::size_t visible = 0;
        for (const Run& run : plant.queries) {
          for (Position t = run.first; t < run.last && t < spec.tokens; ++t) {
            visible = 0;
            for (const PlantedKey& key : plant.keys) visible += key.position <= t ? 1 : 0;
            if (visible == 0 || visible == t + 1) continue;
            const double mass = mass_on(plant, trace.layer(layer).attention, head, t);
            // f16 rounds each of at most 64 shares by less than 2^-12.
            KV_CHECK(mass >= plant.mass - 0.02);
          }
        }
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
  const Result<Trace> trace = cli::open_source("synthetic:" + std::string(text_of(input)));
  KV_CHECK(trace.has_value());
  KV_CHECK(verify(*trace).has_value());
  if (parsed->kind == TraceKind::attention) check_plants(*parsed, *trace);
  try_trace(*trace);
  return true;
}

}  // namespace kv::fuzz
