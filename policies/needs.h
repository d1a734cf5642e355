// What a policy declares and is told before it observes anything: small enough for headers that
// name a policy without calling it.
#pragma once

#include <cstddef>

namespace kv {

// What a policy must see to decide. A replay computes no more than the policies ask for.
struct Needs {
  bool attention = false;      // the row of attention over what the query saw
  bool keys = false;           // the token's keys, before rotation
  bool values = false;         // the token's values
  bool queries = false;        // the token's queries, before rotation
  bool token_classes = false;  // what kind of word the token is

  // Whether observe() is called at all.
  [[nodiscard]] bool any() const { return attention || vectors() || token_classes; }

  [[nodiscard]] bool vectors() const { return keys || values || queries; }

  bool operator==(const Needs&) const = default;
};

// How tokens that leave the recent window reach evict().
enum class Leaving {
  one_by_one,  // each with a call of its own: the rule
  in_bulk,     // all that a trim releases in one call: for rankings, whose answer is the same
  // either way (policies/parts/by_rank.h), and for what resamples the cache at every trim
};

// One of a model's layers, the first nearest the embedding.
struct LayerOf {
  std::size_t index = 0;  // < layers
  std::size_t layers = 1;

  bool operator==(const LayerOf&) const = default;
};

}  // namespace kv
