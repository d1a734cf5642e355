// What the pages that queries choose hold for a query: every product is made anew from the keys.
#pragma once

#include <cstddef>
#include <vector>

#include "kvcheck/properties/cases/token_inputs.h"
#include "kvcheck/sim/spec/settings.h"

namespace kv::properties {

class PageRule {
 public:
  // Receives every token in stream order: the key of its kv-head.
  void met(const TokenInputs& own) { keys_.push_back(own.keys); }

  // The largest logit that the query has of that page's keys.
  [[nodiscard]] double logit(std::size_t page, const TokenInputs& own, const TopPages& sizes) const;

 private:
  std::vector<std::vector<float>> keys_;  // by position
};

}  // namespace kv::properties
