// Synthetic streams: attention made by a seeded rule that says what it planted.
//
// A generator is a rule for logits of low rank. Query t and key j have the logit q(t) . k(j); its
// causal softmax is the attention row. So every generator makes both kinds of trace: `attention`
// stores the rows, `qkv` stores the factors, and their rows agree but for float rounding
// (traces/SYNTHETIC.md gives the bounds). Everything is drawn by base/random/rng.h, so a row does
// not depend on the order of generation, and a longer stream starts with the rows of a shorter one.
//
// Plants are drawn for each layer and kv-head and shared by the query heads of that kv-head; each
// query head has noise of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/base/position.h"
#include "kvcheck/traces/trace.h"

namespace kv {

struct SyntheticSpec;
struct UnitPlan;  // traces/synthetic/plan.h

// A parameter of one generator: `name=value` in a spec.
struct SyntheticParameter {
  std::string_view name;
  double default_value;
  double minimum;
  double maximum;
  bool whole;                // only whole numbers
  std::string_view meaning;  // one line
};

struct SyntheticEntry {
  std::string_view name;
  std::string_view summary;  // one line
  std::string_view plants;   // one line: what planted() states
  std::span<const SyntheticParameter> parameters;

  // Checks what must hold between the parameters of a spec; parse_synthetic calls it.
  Result<void> (*check)(const SyntheticSpec& spec);

  // The plan of one unit. Requires a checked spec.
  UnitPlan (*plan)(const SyntheticSpec& spec, std::size_t layer, std::size_t kv_head);
};

// One generator with its parameters and sizes: a value that prints back as text.
//
//   zipf:tokens=1024,layers=2,heads=4,exponent=1.1,hitters=32,seed=1
struct SyntheticSpec {
  const SyntheticEntry* generator = nullptr;
  TraceKind kind = TraceKind::attention;
  std::size_t tokens = 1024;
  std::size_t layers = 1;
  std::size_t heads = 4;     // query heads
  std::size_t kv_heads = 4;  // divides heads
  std::size_t head_dim = 32;
  std::uint64_t seed = 1;
  Number number = Number::f32;         // f32, or f16 for attention rows
  RopeLayout rope = RopeLayout::none;  // rotates the dimensions that carry noise, no others
  std::vector<double> values;          // one for each of generator->parameters

  // The value of the generator's parameter. Requires that it has one of that name.
  [[nodiscard]] double at(std::string_view name) const;
  [[nodiscard]] std::size_t count(std::string_view name) const;

  // The full text with every field written; parse_synthetic returns an equal value for it.
  [[nodiscard]] std::string canonical() const;

  bool operator==(const SyntheticSpec&) const = default;
};

// A key that a generator planted, and its share of its plant's mass once all of the keys are there.
struct PlantedKey {
  Position position = 0;
  double share = 0;

  bool operator==(const PlantedKey&) const = default;
};

// A statement about rows: each query t in one of the runs gives `mass` to those of the keys that it
// sees (position <= t), split in proportion to their shares. If it sees none of them, it gives them
// nothing; if it sees no other key, it gives them everything. Outside the runs the keys get less
// than silent_mass, unless another plant names them.
struct Plant {
  std::string_view what;  // "sinks", "hitters", "needle", "topic", "target", "level", "all"
  double mass = 0;
  std::vector<Run> queries;
  std::vector<PlantedKey> keys;

  bool operator==(const Plant&) const = default;
};

// Everything that was planted in the keys of one unit.
struct Planted {
  std::vector<Plant> plants;

  // The mass that no plant takes is given to the keys that no plant names, by age: each token of
  // age divides the weight by e^(1/decay) (before noise). 0 means no decay.
  double decay = 0;
  double noise = 0;  // standard deviation of the noise on the logits of those keys
};

// The mass that all keys of a part get together if the rule plants nothing on them. It is not zero,
// because finite queries and keys cannot give zero.
inline constexpr double silent_mass = 1e-9;

// The largest sizes that a spec may have.
inline constexpr std::size_t max_synthetic_tokens = 65536;
inline constexpr std::uint64_t max_synthetic_bytes = std::uint64_t{4} << 30;

// All generators, in the order that help shows them.
std::span<const SyntheticEntry> synthetic_registry();

// The fields that every generator takes: name, default, values and meaning, for help.
struct SyntheticField {
  std::string_view name;
  std::string_view default_value;
  std::string_view values;
  std::string_view meaning;
};

std::span<const SyntheticField> synthetic_fields();

// `NAME` or `NAME:field=value,...`. Errors name the wrong word, what was expected there and the
// nearest valid word. Queries, keys and values above max_synthetic_bytes are an error too.
Result<SyntheticSpec> parse_synthetic(std::string_view text);

// How many bytes the numbers of make_synthetic's trace take.
std::uint64_t synthetic_bytes(const SyntheticSpec& spec);

// The bytes of synthetic_stream's trace, without what makes rows.
std::uint64_t stream_bytes(const SyntheticSpec& spec);

// Error if synthetic_bytes() is above max_synthetic_bytes.
Result<void> check_synthetic_bytes(const SyntheticSpec& spec);

// The trace in memory. Requires a spec from parse_synthetic, and check_synthetic_bytes. Cost:
// O(layers heads tokens^2) time for both kinds, about 20 ns a pair; memory as stored.
Trace make_synthetic(const SyntheticSpec& spec);

// The same, or nothing if `may_continue` says no, which is asked about ten times a second.
std::optional<Trace> make_synthetic(const SyntheticSpec& spec,
                                    const std::function<bool()>& may_continue);

// The same for what only replays it: attention rows are made when they are read (RowMaker), each as
// often as it is read. Requires a spec from parse_synthetic. Cost: that of make_synthetic for
// queries, keys and values, else O(layers heads); O(tokens) for a row and for what makes rows.
Trace synthetic_stream(const SyntheticSpec& spec);

// What was planted in the layer's kv-head. Requires a spec from parse_synthetic, and both numbers
// within its sizes.
Planted planted(const SyntheticSpec& spec, std::size_t layer, std::size_t kv_head);

}  // namespace kv
