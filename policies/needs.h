// What a policy declares, and what the cache reports to it, before the first observation. Headers
// that name a policy without calling it need only this one.
#pragma once

#include <cstddef>

namespace kv {

// The inputs that a policy needs to decide. A replay computes no more than the policies ask for.
struct Needs {
  bool attention = false;      // the row of attention over the visible set
  bool keys = false;           // the token's keys, before rotation
  bool values = false;         // the token's values
  bool queries = false;        // the token's queries, before rotation
  bool token_classes = false;  // what kind of word the token is
  bool output_norms = false;   // with values: Observation::output_norms, where the stream has them

  // Of attention and queries: a decision depends on those of so many last queries before it only. 0
  // if it may depend on all. A replay of a trace that records some queries only
  // (traces/query_sample.h) is exact where these are recorded.
  std::size_t last_queries = 0;

  // The attention is that of queries that read the prompt again, so many of its tokens a pass
  // (model/decoder/repeat_passes.h). The policy observes it once, at the end of the prompt,
  // and nothing of the stream's own queries. Only a running model has such queries; laws show
  // generated attention instead. 0: the attention of the stream's own queries.
  std::size_t reconstruction = 0;

  // What the stream's own queries and tokens supply of it.
  [[nodiscard]] Needs of_stream() const { return reconstruction == 0 ? *this : Needs(); }

  // Whether observe() is called at all.
  [[nodiscard]] bool any() const { return attention || vectors() || token_classes; }

  [[nodiscard]] bool vectors() const { return keys || values || queries; }

  bool operator==(const Needs&) const = default;
};

// How tokens that leave the recent window reach evict().
enum class Leaving {
  one_by_one,  // each with a call of its own; the default
  in_bulk,     // all tokens that a trim releases in one call: for rankings, which give the same
  // answer either way (policies/parts/by_rank.h), and for policies that resample at every trim
};

// One of a model's layers. Layer 0 is next to the embedding.
struct LayerOf {
  std::size_t index = 0;  // < layers
  std::size_t layers = 1;

  bool operator==(const LayerOf&) const = default;
};

}  // namespace kv
