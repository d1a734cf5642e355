#include <algorithm>
#include <cmath>
#include <vector>

#include "kvcheck/base/check.h"
#include "kvcheck/fuzz/support/inputs.h"
#include "kvcheck/fuzz/support/small_model.h"
#include "kvcheck/fuzz/targets/targets.h"
#include "kvcheck/model/decoder/decoder.h"

namespace kv::fuzz {
namespace {

using model::Decoder;
using model::TokenId;

std::vector<TokenId> some_tokens() {
  std::vector<TokenId> tokens;
  for (TokenId i = 0; i < 40; ++i) tokens.push_back(i * i * 5 % 29 + 2);
  return tokens;
}

// The logits of all tokens, in chunks of the spec; empty if the decoder refuses one.
std::vector<float> logits_of(const Spec& spec, const model::DecoderOptions& options) {
  Result<Decoder> decoder = Decoder::create(small_model(), spec, options);
  if (!decoder) {
    static_cast<void>(refused(decoder.error()));
    return {};
  }
  const std::vector<TokenId> tokens = some_tokens();
  std::vector<float> logits;
  const std::size_t chunk = std::max<std::size_t>(1, spec.chunk);
  for (std::size_t at = 0; at < tokens.size(); at += chunk) {
    const std::size_t size = std::min(chunk, tokens.size() - at);
    const Result<void> fed = decoder->feed(std::span(tokens).subspan(at, size));
    if (!fed) {
      static_cast<void>(refused(fed.error()));
      return {};
    }
    KV_CHECK(decoder->seen() == at + size);
    logits.insert(logits.end(), decoder->logits().begin(), decoder->logits().end());
  }
  KV_CHECK(std::ranges::all_of(logits, [](float logit) { return std::isfinite(logit); }));
  return logits;
}

}  // namespace

bool storage(Input input) {
  const std::vector<std::string_view> parts = parts_of(input, 3);
  const Result<KvFormat> format = parse_kv_format(parts[0]);
  if (!format) return refused(format.error());
  const Result<KvFormat> again = parse_kv_format(format->text());
  KV_CHECK(again.has_value() && *again == *format && again->text() == format->text());
  const Result<Spec> spec = parse_spec(parts[1].empty() ? "dense" : parts[1]);
  if (!spec) return !refused(spec.error());
  model::DecoderOptions options;
  options.storage = *format;
  if (parts[2] == "raw") options.keys = model::KeyStorage::raw;
  if (parts[2] == "rotated-f16") options.keys = model::KeyStorage::rotated_f16;
  const std::vector<float> logits = logits_of(*spec, options);
  // A run is a function of its options.
  KV_CHECK(logits == logits_of(*spec, options));
  // If the newest tokens in full precision cover the text, nothing has been quantised.
  if (format->codes != KvCodes::none && format->recent >= 64 && !logits.empty() &&
      !spec->bounded() && !spec->selects() && parts[2].empty()) {
    options.storage = {};
    options.storage.full = format->full;
    KV_CHECK(logits == logits_of(*spec, options));
  }
  return true;
}

}  // namespace kv::fuzz
