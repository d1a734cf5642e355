// Sampling the next token from logits.
#pragma once

#include <span>
#include <vector>

#include "kvcheck/base/random/rng.h"
#include "kvcheck/model/tokenizer/tokenizer.h"

namespace kv::model {

struct SampleOptions {
  double temperature = 1;  // 0 takes the likeliest
  double top_p = 1;        // only the likeliest tokens that together have this probability
};

class TokenSampler {
 public:
  TokenSampler(const SampleOptions& options, const Rng& rng) : options_(options), rng_(rng) {}

  // The draw made at `position`; of equal probabilities the lower token counts as likelier.
  // Requires finite logits. Cost: a sort of the vocabulary when top_p < 1.
  TokenId draw(std::span<const float> logits, Position position);

 private:
  SampleOptions options_;
  Rng rng_;
  std::vector<double> weights_;
  std::vector<TokenId> order_;
};

}  // namespace kv::model
