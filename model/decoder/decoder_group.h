// Decoders of one model that read their next chunks together, so that weights are read once for all
// of them. Results are those of each one alone, to the bit.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "kvcheck/model/decoder/decoder.h"
#include "kvcheck/model/decoder/forward_pass.h"

namespace kv::model {

class DecoderGroup {
 public:
  // Requires at least one decoder, all of them of `model`, which outlives the group. `team` shares
  // each step of the pass; attention of one decoder follows that of another.
  DecoderGroup(const LanguageModel& model,
               std::vector<Decoder> decoders,
               std::shared_ptr<Team> team)
      : model_(&model), decoders_(std::move(decoders)), pass_(model, std::move(team)) {}

  [[nodiscard]] std::size_t size() const { return decoders_.size(); }

  [[nodiscard]] const Decoder& operator[](std::size_t i) const { return decoders_[i]; }

  // What stopped a decoder, and which one.
  struct Failure {
    std::size_t decoder = 0;
    Error error;
  };

  // Decoder i reads chunks[i], or rests if that is empty; logits(i) then has a row per token. The
  // errors are those of Decoder::feed(), and the group is of no more use.
  std::optional<Failure> feed(std::span<const std::span<const TokenId>> chunks);

  // [tokens, vocabulary] of the decoder in the last feed.
  [[nodiscard]] std::span<const float> logits(std::size_t i) const;

 private:
  void run_layer(std::size_t layer);

  const LanguageModel* model_;
  std::vector<Decoder> decoders_;
  ForwardPass pass_;
  std::vector<std::size_t> first_;  // row of each decoder in the pass, and their number at the end
  AlignedFloats logits_;
};

}  // namespace kv::model
