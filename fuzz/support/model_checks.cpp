#include "kvcheck/fuzz/support/model_checks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "kvcheck/base/check.h"
#include "kvcheck/fuzz/support/inputs.h"
#include "kvcheck/model/decoder/decoder.h"
#include "kvcheck/model/run/recall.h"
#include "kvcheck/model/run/record.h"
#include "kvcheck/model/run/text_streams.h"
#include "kvcheck/traces/verify.h"

namespace kv::fuzz {
namespace {

using model::Decoder;
using model::TokenId;

// The tokens of a model that has no tokenizer.
class Letters final : public model::Tokenizer {
 public:
  explicit Letters(std::size_t vocabulary) : vocabulary_(vocabulary) {}

  [[nodiscard]] Result<std::vector<TokenId>> encode(std::string_view text) const override {
    return std::vector<TokenId>(text.size());
  }

  [[nodiscard]] std::string piece(std::optional<TokenId> /*previous*/,
                                  TokenId token) const override {
    return std::string(1, static_cast<char>('a' + token % 26));
  }

  [[nodiscard]] std::size_t vocabulary() const override { return vocabulary_; }

 private:
  std::size_t vocabulary_;
};

std::vector<TokenId> some_tokens(std::size_t vocabulary) {
  std::vector<TokenId> tokens;
  for (std::size_t i = 0; i < 12; ++i) {
    tokens.push_back(static_cast<TokenId>(i * i * 5 % vocabulary));
  }
  return tokens;
}

// Logits by chunks of that size; empty if the decoder refuses.
std::vector<float> logits_of(const model::LanguageModel& model,
                             const char* spec,
                             std::size_t chunk) {
  Result<Decoder> decoder = Decoder::create(model, parse_spec(spec).value());
  if (!decoder) {
    static_cast<void>(refused(decoder.error()));
    return {};
  }
  const std::vector<TokenId> tokens = some_tokens(model.config.vocabulary);
  std::vector<float> logits;
  for (std::size_t at = 0; at < tokens.size(); at += chunk) {
    const std::size_t size = std::min(chunk, tokens.size() - at);
    const Result<void> fed = decoder->feed(std::span(tokens).subspan(at, size));
    if (!fed) {
      static_cast<void>(refused(fed.error()));
      return {};
    }
    KV_CHECK(decoder->logits().size() == size * model.config.vocabulary);
    logits.insert(logits.end(), decoder->logits().begin(), decoder->logits().end());
  }
  return logits;
}

bool all_finite(const std::vector<float>& numbers) {
  return std::ranges::all_of(numbers, [](float number) { return std::isfinite(number); });
}

void try_recording(const model::LanguageModel& model, TraceKind kind) {
  const std::string path = scratch_path("recorded.safetensors");
  const Letters letters(model.config.vocabulary);
  const model::RecordOptions options = {.kind = kind, .number = Number::f32};
  const Result<void> recorded =
      model::record(model, letters, some_tokens(model.config.vocabulary), options, path);
  if (!recorded) return static_cast<void>(refused(recorded.error()));
  const Result<Trace> opened = open_trace(path);
  KV_CHECK(opened.has_value());
  KV_CHECK(verify(*opened).has_value());
}

}  // namespace

void try_model(const model::LanguageModel& model) {
  const model::ModelConfig& config = model.config;
  if (config.layers > 8 || config.width > 256 || config.vocabulary > 1024 || config.inner > 1024) {
    return;
  }
  const std::vector<float> logits = logits_of(model, "dense", 1);
  const std::vector<float> chunked = logits_of(model, "dense", 5);
  // Numbers that are not finite may differ, as no two of them are equal.
  if (all_finite(logits) && all_finite(chunked)) KV_CHECK(logits == chunked);
  for (const char* spec : {"window:budget=4", "h2o:budget=5;positions=in-cache", "tova:budget=4"}) {
    static_cast<void>(logits_of(model, spec, 3));
  }
  if (!all_finite(logits) || logits.empty()) return;
  try_recording(model, TraceKind::qkv);
  try_recording(model, TraceKind::attention);
}

void try_tokenizer(const model::Tokenizer& tokenizer, std::string_view text, bool exact) {
  const std::array<std::string_view, 4> texts = {text, "Once upon a time, 12 cats.\n\tThey ran",
                                                 "\xc3\xa9\xe2\x80\x94\xf0\x9f\x98\x80 ", ""};
  const std::size_t vocabulary = tokenizer.vocabulary();
  KV_CHECK(model::token_classes(tokenizer).size() == vocabulary);
  for (const std::string_view one : texts) {
    const Result<std::vector<TokenId>> tokens = tokenizer.encode(one);
    if (!tokens) {
      static_cast<void>(refused(tokens.error()));
      continue;
    }
    for (const TokenId token : *tokens) {
      KV_CHECK(token >= 0 && static_cast<std::size_t>(token) < vocabulary);
    }
    const Result<std::string> decoded = tokenizer.decode(*tokens);
    KV_CHECK(decoded.has_value());
    if (exact) KV_CHECK(*decoded == one);
    static_cast<void>(model::recall_questions(*tokens, tokenizer));
  }
  const model::TextOptions options = {.separator = "\n", .each = true, .window = 8};
  const auto streams = model::streams_of(text, tokenizer, options);
  if (!streams) return static_cast<void>(refused(streams.error()));
  for (const std::vector<TokenId>& stream : *streams) KV_CHECK(stream.size() >= 2);
}

}  // namespace kv::fuzz
