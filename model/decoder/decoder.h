// A decoder: a model that reads a stream of tokens and attends to what a policy keeps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/base/threads/team.h"
#include "kvcheck/base/token_class.h"
#include "kvcheck/model/attention/cached_attention.h"
#include "kvcheck/model/decoder/forward_pass.h"
#include "kvcheck/model/decoder/re_evaluation.h"
#include "kvcheck/model/tokenizer/tokenizer.h"
#include "kvcheck/model/weights/language_model.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv::model {

struct DecoderOptions {
  std::uint64_t seed = 1;  // of policies that draw
  KvFormat storage{};      // of keys and values
  KeyStorage keys = KeyStorage::rotated;
  // Tokens of the whole text. Rotations that depend on it (RopeScaling::by_length) are those of a
  // single pass over a text of this length; 0: one within the model's first context.
  std::size_t length = 0;
  Marks marks{};  // where the text's prompt and question end; for specs with compress=...
  // By token number; for policies that look at the words that tokens are. May be null else.
  std::shared_ptr<const std::vector<TokenClass>> token_classes{};
  // What asks for the prompt again, between it and each pass that repeats it
  // (model/decoder/repeat_request.h); for policies that need such passes.
  std::vector<TokenId> repeat_request{};
  AttentionObserver* observer = nullptr;  // outlives the decoder
  // Keys and values are held of this layer alone, and feed_layer() and store_layer() take the place
  // of feed().
  std::optional<std::size_t> only_layer{};
  // Threads that share each step of a pass; null: the caller's alone. Results do not depend on
  // them. Another decoder may have the same team as long as no two of them are fed at once.
  std::shared_ptr<Team> team{};
  // Called when attention begins (true) and when it has ended (false), for timers; the work of the
  // policy and of the cache counts as attention. Several times a chunk.
  std::function<void(bool)> on_attention{};
};

// Of which tokens logits are computed.
enum class Logits { all, last };

class Decoder {
 public:
  // `model` outlives the decoder. Errors: what this model cannot do under this spec.
  static Result<Decoder> create(const LanguageModel& model,
                                const Spec& spec,
                                const DecoderOptions& options = {});

  // Reads the next tokens as one chunk; logits() then has a row per token, or one for the last.
  // Errors: a token out of range, or a position that learned embeddings do not have, and nothing
  // was read; a policy that broke its interface, and the decoder is of no more use. Requires at
  // least one token.
  Result<void> feed(std::span<const TokenId> tokens, Logits requested = Logits::all);

  // A copy that reads on by itself, without the observer, as if it had read the same tokens. This
  // decoder outlives it. Cost: the bytes of the cache are copied.
  [[nodiscard]] Decoder fork() const;

  // The layer of only_layer reads the next tokens as one chunk, and replaces what the layers before
  // it made of them, `states` [tokens, width], by what it makes of that; layer 0 reads the tokens
  // themselves. Errors: those of feed().
  Result<void> feed_layer(std::span<const TokenId> tokens, std::span<float> states);

  // What the layer holds after feed_layer() of the same, without its result, in a time that does
  // not grow with the tokens before.
  Result<void> store_layer(std::span<const TokenId> tokens, std::span<const float> states);

  // logits() become those of what the last layer made of some tokens.
  void finish_states(std::span<const float> states);

  // [rows, vocabulary] of the last feed.
  [[nodiscard]] std::span<const float> logits() const { return logits_; }

  // How many of the `left` tokens that follow are the next chunk, as the spec says.
  [[nodiscard]] std::size_t next_chunk(std::size_t left) const {
    return kv::next_chunk(spec_, seen(), seen() + left);
  }

  // Tokens read.
  [[nodiscard]] Position seen() const { return attention_->seen(); }

  [[nodiscard]] const CachedAttention& attention() const { return *attention_; }

  // As resolved for the stream.
  [[nodiscard]] const Spec& spec() const { return spec_; }

 private:
  Decoder(const LanguageModel& model, const Spec& spec, const DecoderOptions& options);
  Decoder(const Decoder& read, std::unique_ptr<CachedAttention> attention);

  [[nodiscard]] Result<void> check(std::span<const TokenId> tokens) const;
  [[nodiscard]] Result<void> check_promises() const;
  [[nodiscard]] std::vector<TokenClass> classes_of(std::span<const TokenId> tokens) const;

  void attending(bool begins) const {
    if (on_attention_) on_attention_(begins);
  }

  // The stages of a chunk: everything before its hidden states exist; these; attention of a layer,
  // over the rows that `vectors` has; and everything after the last layer.
  Result<void> begin_chunk(std::span<const TokenId> tokens);
  void embed(std::span<const TokenId> tokens, std::span<float> states) const;
  void attend(LayerVectors vectors, float* attended);
  Result<void> repeat_prompt();
  Result<void> end_chunk();

  Result<void> begin_layer(std::span<const TokenId> tokens, std::span<const float> states);
  [[nodiscard]] LayerVectors vectors_of(const ForwardPass::Projected& projected) const;
  void run_layer(std::size_t index);

  const LanguageModel* model_;
  Spec spec_;
  std::size_t length_;                                            // whose rotation is used
  std::shared_ptr<const std::vector<TokenClass>> token_classes_;  // null if the policy does not ask
  std::vector<TokenId> repeat_request_;
  std::vector<TokenId> prompt_;  // as far as it is read, if the policy needs passes that repeat it
  AttentionObserver* observer_;
  std::function<void(bool)> on_attention_;
  std::shared_ptr<Team> team_;  // never null
  std::optional<std::size_t> only_layer_;
  std::unique_ptr<CachedAttention> attention_;
  ReEvaluation re_evaluation_;
  std::size_t tokens_ = 0;  // of the chunk
  ForwardPass pass_;
  AlignedFloats logits_;
  std::vector<float> output_norms_;  // of a layer's tokens, if the policy asks

  friend class DecoderGroup;
};

}  // namespace kv::model
