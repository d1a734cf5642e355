// A stream: how much attention each token pays to each other, as a pure function.
//
// Subjects ask it for logits of the pairs that they let see each other, and make probabilities of
// them over what is visible (visible_mass). Nothing is stored, so that a case shrinks to a few
// words, and every adversarial kind costs nothing until it is asked.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "kvcheck/base/error.h"
#include "kvcheck/properties/token.h"

namespace kv::properties {

enum class StreamKind {
  random,    // every pair by chance
  ties,      // all logits equal
  sink,      // the first token gets nearly all
  recency,   // falls with distance
  hitter,    // token `planted` gets nearly all from every later query: a newcomer that must win
  one_hot,   // each query gives nearly all to one token by chance
  drift,     // the favourites change as the stream grows
  unscored,  // the first `planted` tokens neither give nor get: everything that they score is equal
  fixed,     // by a liking for each token that all queries share
  behind,    // random, but counted from token `planted` on: those before it get nothing from others
};

// The payer of attention: a query head of a layer of a sequence.
struct Payer {
  std::uint32_t sequence = 0;
  std::uint32_t layer = 0;
  std::uint32_t query_head = 0;
};

// A value: copying is free.
struct Stream {
  StreamKind kind = StreamKind::random;
  std::uint32_t seed = 0;
  std::uint32_t planted = 0;  // what hitter, unscored and behind plant

  // Queries up to this position pay the first token nothing; or, if a token is planted, they pay
  // the first token what they would pay to that one, and that one nothing. Negative: no query
  // does. What shows that no row inherits a score.
  std::int32_t until = -1;

  // Sequence i of the subject pays as sequence first_sequence + i would: what one sequence of a
  // batch is compared with alone.
  std::uint32_t first_sequence = 0;

  // The payers whose coordinates equal these pay otherwise than they did; negative: any. All three
  // negative: none is disturbed. What isolation is tested with.
  std::int32_t disturbed_sequence = -1;
  std::int32_t disturbed_layer = -1;
  std::int32_t disturbed_query_head = -1;

  // With group > 1: query head g of every group pays as head group - 1 - g does without it. What
  // must not matter to residents that the group shares.
  std::uint32_t mirrored_group = 1;

  float offset = 0;  // added to every logit, which no probability may notice

  // Finite for every pair.
  [[nodiscard]] float logit(const Payer& payer, Token query, Token key) const;

  bool operator==(const Stream& other) const = default;
};

// Probabilities over the visible keys: softmax of the logits, [keys] -> out [keys], in float.
void visible_mass(const Stream& stream,
                  const Payer& payer,
                  Token query,
                  std::span<const Token> keys,
                  std::span<float> out);

std::string_view name_of(StreamKind kind);
std::span<const StreamKind> stream_kinds();
Result<StreamKind> stream_kind_of(std::string_view word);

}  // namespace kv::properties
