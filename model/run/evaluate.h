// Perplexity: how well a model predicts each token of a text from what its policy left of those
// before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/model/decoder/decoder.h"
#include "kvcheck/model/run/recall.h"
#include "kvcheck/model/tokenizer/tokenizer.h"
#include "kvcheck/sim/replay/closed_loop.h"

namespace kv::model {

struct Evaluation {
  // Per stream, per target (the tokens from the second on): -ln of its probability, in nats.
  std::vector<std::vector<float>> nll;
  std::vector<std::vector<std::uint8_t>> right;  // 1 where the likeliest token was the target
  // Per stream: the first target that is predicted with something lost; the number of targets if
  // none is (sim/cache/visible_limits.h).
  std::vector<std::size_t> first_losses;
  std::size_t kv_bytes = 0;  // of keys and values at their peak, the largest over the streams

  [[nodiscard]] std::size_t targets() const;
  [[nodiscard]] double perplexity() const;
};

// The evaluation as results files keep it: losses in steps of `width` targets, and what of the
// recall task was answered, if `questions` (one list per stream) has any. Requires a first loss for
// every stream.
ClosedLoopCell closed_loop_cell(const Cell& cell,
                                const Evaluation& evaluation,
                                std::span<const std::vector<RecallQuestion>> questions,
                                std::size_t width);

// Receives the share that is done; false stops.
using Progress = std::function<bool(double)>;

// Feeds every stream from an empty cache in chunks of spec.chunk; every target is scored exactly
// once whatever the chunk. Errors: the decoder's; being stopped; a file of the model that changed.
Result<Evaluation> evaluate(const LanguageModel& model,
                            const Spec& spec,
                            std::span<const std::vector<TokenId>> streams,
                            const DecoderOptions& options,
                            const Progress& report = {});

// Evaluates several cells together: their decoders read the weights once for all of them, which
// pays where a step has few tokens and the weights are larger than a processor's cache. Results are
// those of evaluate(), to the bit. Errors: the same, with the label of their spec before them.
Result<std::vector<Evaluation>> evaluate_together(const LanguageModel& model,
                                                  std::span<const Cell> cells,
                                                  std::span<const std::vector<TokenId>> streams,
                                                  const DecoderOptions& options,
                                                  const Progress& report = {});

// What to say of logits that are infinite or no numbers, after the token at that position: which
// weight is none, if one is. Cost: reads all weights.
Error not_finite(const LanguageModel& model, std::size_t position);

// -ln p of each target, as f32: row i of the logits, after the token at position `at` + i, predicts
// targets[i]. There may be more rows. Errors: not_finite(). Checked token by token, because one NaN
// would make the mean of the whole text one, with no hint where.
Result<std::vector<float>> losses_of(const LanguageModel& model,
                                     std::span<const float> logits,
                                     std::span<const TokenId> targets,
                                     std::size_t at);

// -ln of the probability that softmax gives to `target`. In double; requires finite logits.
double nll_of(std::span<const float> logits, TokenId target);

}  // namespace kv::model
