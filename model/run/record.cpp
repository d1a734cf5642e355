#include "kvcheck/model/run/record.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "kvcheck/model/run/layered_pass.h"
#include "kvcheck/model/run/pass_file.h"
#include "kvcheck/model/run/recorder.h"
#include "kvcheck/model/run/spool.h"
#include "kvcheck/model/run/trace_rules.h"
#include "kvcheck/traces/files/writer.h"
#include "kvcheck/traces/metadata.h"

namespace kv::model {
namespace {

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

// Runs the model token by token; gives -ln p per token, of the first, which nothing predicts, 0.
Result<std::vector<float>> run_tokens(const LanguageModel& model,
                                      std::span<const TokenId> tokens,
                                      const Cell& cell,
                                      const DecoderOptions& options,
                                      Recorder& recorder,
                                      const Progress& report) {
  Result<Decoder> decoder = Decoder::create(model, cell.spec, options);
  if (!decoder) return decoder.error();
  // The spec's chunk, as in an evaluation: what a query sees may depend on it.
  std::vector<float> nll = {0};
  for (std::size_t at = 0; at < tokens.size(); at = decoder->seen()) {
    const std::size_t size = decoder->next_chunk(tokens.size() - at);
    if (auto fed = decoder->feed(tokens.subspan(at, size)); !fed) return fed.error();
    if (!recorder.state()) return recorder.state().error();
    // The last token of the text predicts none.
    const auto targets = tokens.subspan(at + 1, std::min(size, tokens.size() - at - 1));
    const auto losses = losses_of(model, decoder->logits(), targets, at);
    if (!losses) return losses.error();
    nll.insert(nll.end(), losses->begin(), losses->end());
    const double share = static_cast<double>(at + size) / static_cast<double>(tokens.size());
    if (report && !report(share)) return io_error("stopped");
  }
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
  if (const Marks& marks = options.marks; marks.prompt + marks.question > tokens) {
    return usage_error("the prompt and the question have " +
                       std::to_string(marks.prompt + marks.question) + " tokens, and the text " +
                       std::to_string(tokens) + "; expected at most as many");
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
  if (info.kv_heads < config.kv_heads) info.kv_head_numbers = options.kv_heads;
  if (options.queries) {
    auto drawn = draw_queries(*options.queries, tokens, options.query_seed, options.marks);
    if (!drawn) return drawn.error();
    info.queries = std::move(drawn->queries);
    info.query_design = std::move(drawn->design);
  }
  if (options.cell->spec.bounded() || options.cell->spec.selects())
    info.loop = "closed: " + options.cell->spec.canonical();
  info.marks = options.marks;
  info.model = options.model;
  info.source = options.source;
  info.licence = options.licence;
  if (needs_version_2(info)) info.model_layers = config.layers;
  return info;
}

// Whether every layer can run alone: what it holds then depends on no policy, and no one asks for
// its rows of attention.
bool runs_by_layer(const RecordOptions& options) {
  const Spec& spec = options.cell->spec;
  return options.kind == TraceKind::qkv && !spec.bounded() && !spec.selects();
}

// A run of a model, and where its numbers go.
struct Recording {
  const LanguageModel& model;
  std::span<const TokenId> tokens;
  const RecordOptions& options;  // complete
  const TraceInfo& info;
  const std::string& path;
};

Result<void> write_trace(const Recording& recording,
                         const Tokenizer& tokenizer,
                         std::vector<float> nll,
                         const Recorder& recorder) {
  if (Result<void> same = recording.model.unchanged(); !same) return same;
  const Transcript transcript = transcript_of(tokenizer, recording.tokens, std::move(nll));
  Result<TraceWriter> writer =
      TraceWriter::create(recording.path, recording.info, recording.tokens, transcript);
  if (!writer) return writer.error();
  if (auto copied = recorder.copy_to(*writer); !copied) return copied;
  return writer->commit();
}

Result<void> record_by_layer(const Recording& recording,
                             const Tokenizer& tokenizer,
                             const Progress& report) {
  const ModelConfig& config = recording.model.config;
  const RecordOptions& options = recording.options;
  Result<PassFile> file = PassFile::open(
      recording.path, options.identity,
      {.tokens = recording.tokens.size(), .width = recording.model.embedding.columns});
  if (!file) return file.error();
  Recorder recorder(config, options.kv_heads, recording.info, file->spool(), file->recorded());
  const LayeredPass pass{.tokens = recording.tokens,
                         .chunk = options.cell->spec.chunk,
                         .layers = options.losses ? config.layers : options.layers.back() + 1,
                         .losses = options.losses,
                         .observer = &recorder,
                         .team = options.team};
  const auto observed = [&] { return recorder.state(); };
  Result<std::vector<float>> nll = run_layers(recording.model, pass, *file, observed, report);
  if (!nll) return nll.error();
  Result<void> written = write_trace(recording, tokenizer, *std::move(nll), recorder);
  if (written) file->remove();
  return written;
}

Result<void> record_by_token(const Recording& recording,
                             const Tokenizer& tokenizer,
                             const Progress& report) {
  const RecordOptions& options = recording.options;
  Result<Spool> spool = Spool::create(recording.path);
  if (!spool) return spool.error();
  Recorder recorder(recording.model.config, options.kv_heads, recording.info, *spool, 0);
  const DecoderOptions decoding{.seed = options.cell->seed,
                                .length = recording.tokens.size(),
                                .marks = options.marks,
                                .token_classes = options.token_classes,
                                .repeat_request = options.repeat_request,
                                .observer = &recorder,
                                .team = options.team};
  Result<std::vector<float>> nll =
      run_tokens(recording.model, recording.tokens, *options.cell, decoding, recorder, report);
  if (!nll) return nll.error();
  if (!options.losses) nll->clear();
  return write_trace(recording, tokenizer, *std::move(nll), recorder);
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
  const Recording recording{model, tokens, options, *info, path};
  if (runs_by_layer(options)) return record_by_layer(recording, tokenizer, report);
  if (options.identity.empty()) return record_by_token(recording, tokenizer, report);
  return usage_error(
      "a recording of attention or under a policy cannot be resumed, because each token needs all "
      "before it in every layer; expected no resume");
}

}  // namespace kv::model
