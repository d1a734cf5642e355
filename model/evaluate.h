// Perplexity: how well a model predicts each token of a text from what its policy left of those
// before.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "model/decoder.h"
#include "model/tokenizer.h"

namespace kv {

// How a text becomes one or more streams of tokens.
struct TextOptions {
  std::string separator{};       // cuts the text into pieces, each stripped of outer blanks
  bool each = false;             // every piece is a stream of its own; else all are one
  std::optional<Token> begin{};  // goes before every stream
  bool mark = false;             // ... and before every piece
  std::size_t tokens = 0;        // how many of all tokens are taken; 0: all
};

// Streams of at least two tokens each. Errors: text that is empty, or too short to predict anything
// of; those of encode().
Result<std::vector<std::vector<Token>>> streams_of(std::string_view text,
                                                   const Tokenizer& tokenizer,
                                                   const TextOptions& options);

struct Evaluation {
  // Per stream, per target (the tokens from the second on): -ln of its probability, in nats.
  std::vector<std::vector<float>> nll;
  std::size_t kv_bytes = 0;  // of keys and values held at the end, the largest over the streams

  [[nodiscard]] std::size_t targets() const;
  [[nodiscard]] double perplexity() const;
};

// Told the share that is done; false stops.
using Report = std::function<bool(double)>;

// Feeds every stream from an empty cache in chunks of spec.chunk; every target is scored exactly
// once whatever the chunk. Errors are the decoder's, and being stopped.
Result<Evaluation> evaluate(const LanguageModel& model,
                            const Spec& spec,
                            std::span<const std::vector<Token>> streams,
                            const DecoderOptions& options,
                            const Report& report = {});

// The targets number [first, last) of their streams.
struct Segment {
  std::size_t first = 0;
  std::size_t last = 0;
  std::size_t targets = 0;
  double nats = 0;  // their sum

  [[nodiscard]] double perplexity() const;
};

// [0, width), [width, 2 width), [2 width, 4 width), ... as far as there are targets.
std::vector<Segment> segments_of(const Evaluation& evaluation, std::size_t width);

// -ln of the probability that softmax gives to `target`. In double; requires finite logits.
double nll_of(std::span<const float> logits, Token target);

}  // namespace kv
