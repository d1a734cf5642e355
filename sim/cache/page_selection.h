// The pages that a query attends to: those whose keys can give it the largest logits.
//
// A page is `page` tokens that follow each other, the first one from position 0. Of each page the
// least and the greatest number of every channel are kept, over the keys as they are attended to
// (rotated at their position, rounded as they are stored). For a query q
//     bound = sum over channels of max(q_d * least_d, q_d * greatest_d)
// is at least q . k for every key k of the page: also in floats, since products and sums are
// rounded in the order of Kernels::dot_rows, and rounding keeps order. Scaling is left out: it
// ranks alike.
//
// A query attends to its own page, up to itself, and to those pages before it that have the highest
// bounds; all together to as many pages as TopPages says. Of equal bounds the newer page. Only
// pages that are full are ever ranked, so that how a stream is cut into chunks cannot matter.
//
// Source: Tang et al., "Quest: Query-Aware Sparsity for Efficient Long-Context LLM Inference", ICML
// 2024, arXiv:2406.10774, section 3. Differs: the source's evaluation code ranks the query's own
// page like any other, and takes at least 3 pages; here the own page is always attended to, and
// the number is what the spec says.
#pragma once

#include <cstddef>
#include <vector>

#include "kvcheck/base/position.h"
#include "kvcheck/sim/cache/visible.h"
#include "kvcheck/sim/spec/settings.h"

namespace kv {

// How many tokens a query at that position attends to. Cost: O(1).
std::size_t attended_by(const TopPages& sizes, Position query);

// The bounds of one kv-head's pages, and what its queries choose by them. One object serves one
// thread.
class PageChoice {
 public:
  // Vectors have `dim` numbers.
  PageChoice(const TopPages& sizes, std::size_t dim);

  // Takes in the key of the next token: [dim]. Cost: O(dim).
  void add(const float* key);

  [[nodiscard]] std::size_t tokens() const { return tokens_; }

  // The bound of the page for a query: [dim]. Requires that the page has a token. Cost: O(dim).
  [[nodiscard]] float bound(std::size_t page, const float* query);

  // What the query ([dim]) at that position attends to: no sinks, the pages chosen as the middle,
  // its own page as the recent run; everything as one run where nothing is left out. Requires the
  // keys of all pages before its own. Holds until the next call. Cost: O(pages * dim + attended).
  Visible select(const float* query, Position position);

  // Bytes of bounds held.
  [[nodiscard]] std::size_t bytes() const {
    return (least_.size() + greatest_.size()) * sizeof(float);
  }

 private:
  TopPages sizes_;
  std::size_t dim_;
  std::size_t tokens_ = 0;
  std::vector<float> least_;     // [pages, dim]
  std::vector<float> greatest_;  // [pages, dim]
  std::vector<float> corner_;    // [dim], scratch: of the page, what suits the query best
  std::vector<float> bounds_;    // [pages], scratch
  std::vector<std::size_t> order_;
  std::vector<Position> selected_;
};

}  // namespace kv
