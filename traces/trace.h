// A trace: the attention of a model, or its queries, keys and values, recorded in most cases while
// nothing was evicted.
//
// A Trace is validated when it is opened: every number that a replay uses to find bytes has been
// checked. Checks that cost a pass over the data (row sums, NaN, mass above the diagonal) are made
// by verify() in traces/verify.h, and row by row in a replay. The format is described byte by byte
// in traces/FORMAT.md.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/base/marks.h"
#include "kvcheck/base/number.h"
#include "kvcheck/base/position.h"
#include "kvcheck/traces/layer_rules.h"
#include "kvcheck/traces/query_sample.h"
#include "kvcheck/traces/rope_layout.h"

namespace kv {

enum class TraceKind {
  attention,  // rows of probabilities
  qkv,        // queries, keys and values
};

struct Rope {
  RopeLayout layout = RopeLayout::none;
  std::size_t dims = 0;  // how many leading dimensions of a head rotate; even, <= head_dim
  double theta = 10000;  // the base: pair i rotates by position * theta^(-2i/dims); 0: none stated

  bool operator==(const Rope&) const = default;
};

// A block of numbers inside the mapped file, row-major, not necessarily aligned.
struct TensorView {
  Number number = Number::f32;
  std::vector<std::size_t> shape;
  const std::byte* data = nullptr;

  [[nodiscard]] std::size_t bytes_per_number() const { return number == Number::f32 ? 4 : 2; }

  // How many numbers there are: the product of the shape, which is known to fit.
  [[nodiscard]] std::size_t numbers() const;
};

struct TraceInfo {
  // What reports call it: the file's name without folders, or the generator's spec.
  std::string name;
  TraceKind kind = TraceKind::attention;
  std::string model;    // free text; may be empty
  std::string source;   // free text: where text and weights come from
  std::string licence;  // free text
  // "open": nothing was evicted when this was recorded; or "closed: SPEC", the model ran on the
  // tokens that this policy kept.
  std::string loop = "open";
  std::size_t tokens = 0;
  std::size_t query_heads = 0;
  std::size_t kv_heads = 0;         // divides query_heads; see kv_head_of()
  std::size_t head_dim = 0;         // 0 when unknown (attention dumps)
  std::vector<std::size_t> layers;  // the model's numbers of the recorded layers, increasing
  // The recorded queries, increasing; empty: all. Keys and values are those of all tokens.
  std::vector<Position> queries{};
  std::optional<QueryDesign> query_design{};  // how they were selected; empty: not known, or all
  // The model's numbers of the recorded kv-heads, increasing; empty: 0 to kv_heads - 1.
  std::vector<std::size_t> kv_head_numbers{};
  std::size_t trained_context = 0;  // 0 when unknown
  std::size_t model_layers = 0;     // how many layers the model has; 0 when unknown
  Rope rope;  // of the layers that rotate and have no frequencies of their own
  std::vector<LayerRules> rules{};  // per recorded layer; empty: see rules_of()
  // Whether q and k were recorded after their rotation. Readers take it back where they need to.
  bool rope_applied = false;
  // Of attention rows: whether each has a sink that is no token, so that it may sum to less than 1.
  bool learned_sinks = false;
  Marks marks{};                // where the prompt and the question end
  Number number = Number::f32;  // how the numbers are stored
  std::uint64_t checksum = 0;   // XXH3-64 of the generator's spec, or of the file's bytes;
                                // a trace of arrays has that of the file it would be saved as
};

// How many query heads read each kv-head; 1 where none are known.
inline std::size_t query_heads_per_kv_head(const TraceInfo& info) {
  const std::size_t kv_heads = std::max<std::size_t>(1, info.kv_heads);
  return std::max<std::size_t>(1, info.query_heads / kv_heads);
}

// The kv-head that a query head reads: heads of one kv-head are neighbours.
inline std::size_t kv_head_of(const TraceInfo& info, std::size_t query_head) {
  return query_head / query_heads_per_kv_head(info);
}

// How many queries are recorded: the rows of each head's queries, or of its attention.
inline std::size_t recorded_queries(const TraceInfo& info) {
  return info.queries.empty() ? info.tokens : info.queries.size();
}

// The position of a recorded query, by its row.
inline Position recorded_query(const TraceInfo& info, std::size_t row) {
  return info.queries.empty() ? static_cast<Position>(row) : info.queries[row];
}

// Whether the numbers of the recorded queries stand for those of all queries, with an error that
// follows from how they were selected.
inline bool samples_queries(const TraceInfo& info) {
  return !info.queries.empty() && info.query_design && info.query_design->samples();
}

// What the layer with an index into info.layers does. Without rules all layers rotate by info.rope
// and do nothing else.
LayerRules rules_of(const TraceInfo& info, std::size_t index);

// Whether the tensors of that layer hold keys and queries that are rotated.
inline bool holds_rotated(const TraceInfo& info, const LayerRules& rules) {
  return info.rope_applied && rules.layout != RopeLayout::none;
}

// The spec under which a trace was recorded; empty if nothing was evicted.
std::string_view policy_recorded(const TraceInfo& info);

// The text that the model read and its loss on each token. Reports show it; replays do not use it.
// Each part may be empty.
struct Transcript {
  std::string text;                     // UTF-8 as the tokenizer gave it, all tokens joined
  std::vector<std::int64_t> text_ends;  // per token: where its bytes end in `text`
  std::vector<float> nll;  // per token: -ln of the probability that the model gave it, in nats
};

// Makes the attention rows of one query head when they are read, in any order.
class RowMaker {
 public:
  RowMaker() = default;
  RowMaker(const RowMaker&) = delete;
  RowMaker& operator=(const RowMaker&) = delete;
  virtual ~RowMaker() = default;

  // The probabilities of the keys 0, ..., query, as numbers of the trace. Requires query + 1
  // elements.
  virtual void make(Position query, std::span<float> row) = 0;
};

class Trace {
 public:
  struct Layer {
    TensorView attention;  // [query_heads, recorded queries, tokens] when kind is attention and
                           // row_maker() makes none
    // When kind is qkv; q and k are before rotation unless info.rope_applied.
    TensorView q;  // [query_heads, recorded queries, head_dim]
    TensorView k;  // [kv_heads, tokens, head_dim]
    TensorView v;  // [kv_heads, tokens, head_dim]
  };

  // `owner` keeps alive the bytes that the views point into (a mapped file, decompressed arrays).
  Trace(TraceInfo info,
        std::vector<Layer> layers,
        std::vector<std::int32_t> token_ids,
        std::shared_ptr<const void> owner,
        Transcript transcript = {});

  [[nodiscard]] const TraceInfo& info() const { return info_; }

  // The layer with an index into info().layers.
  [[nodiscard]] const Layer& layer(std::size_t index) const { return layers_[index]; }

  // The recorded token ids; empty if the trace has none.
  [[nodiscard]] std::span<const std::int32_t> token_ids() const { return token_ids_; }

  [[nodiscard]] const Transcript& transcript() const { return transcript_; }

  // Error if the file that the trace was read from is no longer as it was: its size, its time or
  // its checksum differ, so that some of what was read may be new. Results of such a trace must not
  // be kept under its checksum. No error for a trace of no file. Cost: reads the whole file.
  [[nodiscard]] Result<void> unchanged() const {
    return unchanged_ ? unchanged_() : Result<void>{};
  }

  // Replaces the marks, for a trace that has none or others.
  void mark(const Marks& marks) { info_.marks = marks; }

  // What makes the rows of a query head of the layer with an index; null if layer() holds them.
  [[nodiscard]] std::unique_ptr<RowMaker> row_maker(std::size_t layer, std::size_t head) const {
    return make_rows_ ? make_rows_(layer, head) : nullptr;
  }

  using MakeRows = std::function<std::unique_ptr<RowMaker>(std::size_t layer, std::size_t head)>;

  // For traces of attention that hold no rows: what makes them.
  void make_rows_by(MakeRows make_rows) { make_rows_ = std::move(make_rows); }

  // For what opens files: the checksum of the trace's file, and what unchanged() asks.
  void read_from(std::uint64_t checksum, std::function<Result<void>()> unchanged);

 private:
  TraceInfo info_;
  std::vector<Layer> layers_;
  std::vector<std::int32_t> token_ids_;
  std::shared_ptr<const void> owner_;
  Transcript transcript_;
  std::function<Result<void>()> unchanged_;
  MakeRows make_rows_;
};

// Opens a trace. The content of the file, not its name, decides its format: our safetensors schema,
// or an .npy/.npz attention dump. Errors name the file, the tensor or offset, what was found and
// what was expected. The checksum, which needs the whole file, is computed last, while `progress`
// receives now and then the share that has been read; that of a large file is kept beside it
// (traces/files/checksum.h).
Result<Trace> open_trace(const std::string& path,
                         const std::function<void(double share)>& progress = {});

}  // namespace kv
