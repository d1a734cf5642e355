// What the attention of one recorded layer does, as far as a trace of queries, keys and values has
// to say it. traces/FORMAT.md has the formula.
#pragma once

#include <cstddef>
#include <vector>

#include "kvcheck/traces/rope_layout.h"

namespace kv {

struct LayerRules {
  RopeLayout layout = RopeLayout::none;
  // [pairs], in radians per position, finite and not negative. Empty: those of the trace's base.
  std::vector<double> frequencies{};
  double rope_scale = 1;        // multiplies cosines and sines; above 0
  double scale = 0;             // of q . k; above 0, or 0 for 1 / sqrt(head_dim)
  double cap = 0;               // logits x become cap * tanh(x / cap); 0: they do not
  std::size_t window = 0;       // how many newest positions a query sees, its own included; 0: all
  std::vector<float> sinks{};   // [query_heads]: logits that have no value; empty: none
  std::vector<float> slopes{};  // [query_heads]: what a logit loses per position; empty: none

  bool operator==(const LayerRules&) const = default;
};

}  // namespace kv
