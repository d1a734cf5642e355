// visibility=top-pages as an executable specification, written apart from
// sim/cache/page_selection.h: no bounds are kept, every product is made anew, and pages are sorted
// whole.
#pragma once

#include <cstddef>
#include <vector>

#include "kvcheck/base/position.h"
#include "kvcheck/properties/cases/token_inputs.h"
#include "kvcheck/sim/spec/settings.h"

namespace kv::properties {

class PageRule {
 public:
  // Told of every token in stream order: the key of its kv-head.
  void met(const TokenInputs& own) { keys_.push_back(own.keys); }

  // Which of the rows that are there (0 to the query, none missing) the query of the token met last
  // attends to, in stream order: its own page and those with the highest bounds, the newer of
  // equals.
  [[nodiscard]] std::vector<Position> selected(const std::vector<Position>& there,
                                               const TokenInputs& own,
                                               const TopPages& sizes) const;

  // The most that the query times a key of that page could be, were each channel free to be that of
  // any of its keys.
  [[nodiscard]] double bound(std::size_t page, const TokenInputs& own, const TopPages& sizes) const;

  // The most that it is.
  [[nodiscard]] double logit(std::size_t page, const TokenInputs& own, const TopPages& sizes) const;

 private:
  std::vector<std::vector<float>> keys_;  // by position
};

}  // namespace kv::properties
