#include "kvcheck/model/run/record.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "kvcheck/model/run/decoder.h"
#include "kvcheck/model/run/spool.h"
#include "kvcheck/model/run/trace_rules.h"
#include "kvcheck/traces/files/writer.h"

namespace kv::model {
namespace {

// Writes what the decoder shows to its place in the trace: files are ordered by layer and head,
// a model runs token by token.
class Recorder final : public AttentionObserver {
 public:
  Recorder(const ModelConfig& config, const RecordOptions& options, TraceInfo info, Spool spool)
      : config_(config),
        kv_heads_(options.kv_heads),
        info_(std::move(info)),
        spool_(std::move(spool)) {}

  void on_vectors(Position first, const LayerVectors& vectors) override {
    const std::optional<std::size_t> layer = index_of(info_.layers, vectors.layer);
    if (info_.kind != TraceKind::qkv || !layer) return;
    const std::size_t per_layer = info_.query_heads + 2 * info_.kv_heads;
    const std::size_t shared = config_.heads / config_.kv_heads;
    const auto put = [&](const float* rows, std::size_t heads, std::size_t head, std::size_t to) {
      const std::size_t block = *layer * per_layer + to;
      put_head(rows, heads, head, block * info_.tokens + first, vectors.tokens);
    };
    for (std::size_t i = 0; i < kv_heads_.size(); ++i) {
      for (std::size_t j = 0; j < shared; ++j) {
        put(vectors.q, config_.heads, kv_heads_[i] * shared + j, i * shared + j);
      }
      put(vectors.k, config_.kv_heads, kv_heads_[i], info_.query_heads + i);
      put(vectors.v, config_.kv_heads, kv_heads_[i], info_.query_heads + info_.kv_heads + i);
    }
  }

  [[nodiscard]] bool wants_rows(std::size_t layer) const override {
    return info_.kind == TraceKind::attention && index_of(info_.layers, layer).has_value();
  }

  void on_row(std::size_t layer_number,
              std::size_t head,
              Position query,
              const Visible& visible,
              std::span<const float> mass) override {
    const std::optional<std::size_t> layer = index_of(info_.layers, layer_number);
    if (!layer) return;
    const std::size_t shared = config_.heads / config_.kv_heads;
    const std::optional<std::size_t> kv_head = index_of(kv_heads_, head / shared);
    if (!kv_head) return;
    const std::size_t row = *layer * info_.query_heads + *kv_head * shared + head % shared;
    keep(spool_.put((std::uint64_t{row} * info_.tokens + query) * info_.tokens,
                    by_position(query, visible, mass)));
  }

  // The first error.
  [[nodiscard]] const Result<void>& state() const { return state_; }

  Result<void> copy_to(TraceWriter& writer) const {
    // In blocks, because a trace may be larger than memory.
    std::vector<float> block(std::size_t{1} << 16);
    const std::uint64_t total = trace_numbers(info_);
    for (std::uint64_t at = 0; at < total; at += block.size()) {
      const std::span<float> some =
          std::span(block).first(std::min<std::uint64_t>(block.size(), total - at));
      if (auto read = spool_.get(at, some); !read) return read;
      if (auto written = writer.write(some); !written) return written;
    }
    return {};
  }

 private:
  static std::optional<std::size_t> index_of(const std::vector<std::size_t>& all,
                                             std::size_t requested) {
    const auto at = std::ranges::lower_bound(all, requested);
    if (at == all.end() || *at != requested) return {};
    return static_cast<std::size_t>(at - all.begin());
  }

  // A row over what was seen as one over all tokens up to the query.
  std::span<const float> by_position(Position query,
                                     const Visible& visible,
                                     std::span<const float> mass) {
    scratch_.assign(std::size_t{query} + 1, 0);
    auto next = mass.begin();
    const auto put = [&](Position position) { scratch_[position] = *next++; };
    for (Position p = visible.sinks.first; p < visible.sinks.last; ++p) put(p);
    std::ranges::for_each(visible.middle, put);
    for (Position p = visible.recent.first; p < visible.recent.last; ++p) put(p);
    return scratch_;
  }

  // The vectors of one head of a chunk, one after another, from row `at` of the trace on.
  void put_head(const float* rows,
                std::size_t heads,
                std::size_t head,
                std::uint64_t at,
                std::size_t tokens) {
    const std::size_t dim = config_.head_dim;
    scratch_.resize(tokens * dim);
    for (std::size_t t = 0; t < tokens; ++t) {
      std::copy_n(rows + (t * heads + head) * dim, dim, scratch_.data() + t * dim);
    }
    keep(spool_.put(at * dim, scratch_));
  }

  void keep(const Result<void>& done) {
    if (state_ && !done) state_ = done;
  }

  const ModelConfig& config_;
  std::vector<std::size_t> kv_heads_;
  TraceInfo info_;
  Spool spool_;
  Result<void> state_;
  std::vector<float> scratch_;
};

// Fills in "all" and refuses numbers that the model does not have.
Result<void> complete(std::vector<std::size_t>& selected,
                      std::size_t count,
                      const std::string& what) {
  if (selected.empty()) {
    selected.resize(count);
    std::iota(selected.begin(), selected.end(), std::size_t{0});
  }
  if (selected.back() < count) return {};
  return usage_error("the model has no " + what + " " + std::to_string(selected.back()) +
                     "; expected 0 to " + std::to_string(count - 1));
}

Transcript transcript_of(const Tokenizer& tokenizer,
                         std::span<const TokenId> tokens,
                         std::vector<float> nll) {
  Transcript transcript;
  std::optional<TokenId> previous;
  for (const TokenId token : tokens) {
    if (static_cast<std::size_t>(token) < tokenizer.vocabulary()) {
      transcript.text += tokenizer.piece(previous, token);
    }
    transcript.text_ends.push_back(static_cast<std::int64_t>(transcript.text.size()));
    previous = token;
  }
  transcript.nll = std::move(nll);
  return transcript;
}

// Runs the model; gives -ln p per token, of the first, which nothing predicts, 0.
Result<std::vector<float>> run(const LanguageModel& model,
                               std::span<const TokenId> tokens,
                               const Cell& cell,
                               const DecoderOptions& options,
                               Recorder& recorder,
                               const Progress& report) {
  Result<Decoder> decoder = Decoder::create(model, cell.spec, options);
  if (!decoder) return decoder.error();
  // The spec's chunk, as in an evaluation: what a query sees may depend on it.
  std::vector<float> nll = {0};
  const std::size_t vocabulary = model.config.vocabulary;
  for (std::size_t at = 0; at < tokens.size(); at = decoder->seen()) {
    const std::size_t size = decoder->next_chunk(tokens.size() - at);
    if (auto fed = decoder->feed(tokens.subspan(at, size)); !fed) return fed.error();
    if (!recorder.state()) return recorder.state().error();
    for (std::size_t i = 0; i < size && at + i + 1 < tokens.size(); ++i) {
      const auto row = decoder->logits().subspan(i * vocabulary, vocabulary);
      nll.push_back(static_cast<float>(nll_of(row, tokens[at + i + 1])));
    }
    const double share = static_cast<double>(at + size) / static_cast<double>(tokens.size());
    if (report && !report(share)) return io_error("stopped");
  }
  if (Result<void> same = model.unchanged(); !same) return same.error();
  return nll;
}

Result<TraceInfo> plan_trace(const ModelConfig& config,
                             std::size_t tokens,
                             RecordOptions& options) {
  if (auto done = complete(options.layers, config.layers, "layer"); !done) return done.error();
  if (auto done = complete(options.kv_heads, config.kv_heads, "kv-head"); !done) {
    return done.error();
  }
  if (options.kind == TraceKind::qkv && options.cell->spec.vectors == Vectors::re_evaluated) {
    return usage_error(
        "with vectors=re-evaluated a token has several keys and values, and a trace holds one; "
        "expected kind attention");
  }
  TraceInfo info = describe_model(config);
  info.kind = options.kind;
  info.tokens = tokens;
  info.layers = options.layers;
  if (options.kind == TraceKind::qkv) {
    state_attention(config, tokens, info);
  } else {
    info.rope = rope_of(config, config.layer(options.layers.front()).rotation);
  }
  info.kv_heads = options.kv_heads.size();
  info.query_heads = config.heads / config.kv_heads * info.kv_heads;
  info.number = options.number;
  if (options.cell->spec.bounded() || options.cell->spec.selects())
    info.loop = "closed: " + options.cell->spec.canonical();
  info.marks = options.marks;
  info.model = options.model;
  info.source = options.source;
  info.licence = options.licence;
  return info;
}

}  // namespace

Result<void> record(const LanguageModel& model,
                    const Tokenizer& tokenizer,
                    std::span<const TokenId> tokens,
                    const RecordOptions& requested,
                    const std::string& path,
                    const Progress& report) {
  RecordOptions options = requested;
  if (!options.cell) {
    Result<Spec> dense = parse_spec("dense", {.chunk = 64});
    if (!dense) return dense.error();
    options.cell = {.spec = *std::move(dense)};
  }
  const Result<TraceInfo> info = plan_trace(model.config, tokens.size(), options);
  if (!info) return info.error();
  Result<Spool> spool = Spool::create(path);
  if (!spool) return spool.error();
  Recorder recorder(model.config, options, *info, *std::move(spool));
  const DecoderOptions decoding{.seed = options.cell->seed,
                                .length = tokens.size(),
                                .marks = options.marks,
                                .token_classes = options.token_classes,
                                .observer = &recorder,
                                .team = options.team};
  Result<std::vector<float>> nll = run(model, tokens, *options.cell, decoding, recorder, report);
  if (!nll) return nll.error();
  const Transcript transcript = transcript_of(tokenizer, tokens, *std::move(nll));
  Result<TraceWriter> writer = TraceWriter::create(path, *info, tokens, transcript);
  if (!writer) return writer.error();
  if (auto copied = recorder.copy_to(*writer); !copied) return copied;
  return writer->commit();
}

}  // namespace kv::model
