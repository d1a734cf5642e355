// The pages that a query attends to: those whose keys can give it the largest logits.
//
// A page is `page` consecutive tokens; the first page begins at position 0. For each page the least
// and the greatest number of every channel are stored. The keys are those that queries attend to:
// rotated to their position and rounded as they are stored. For a query q
//     bound = sum over channels of max(q_d * least_d, q_d * greatest_d)
// is at least q . k for every key k of the page. This holds in floats too, because products and
// sums are rounded in the order of Kernels::dot_rows and rounding is monotonic. The scale of logits
// is left out, because it does not change the ranking.
//
// A query attends to its own page, up to itself, and to the earlier pages with the highest bounds:
// TopPages::pages() pages in all. Among equal bounds the newer page is selected. Only full pages
// are ranked, so that chunking does not change the selection.
//
// Source: Tang et al., "Quest: Query-Aware Sparsity for Efficient Long-Context LLM Inference", ICML
// 2024, arXiv:2406.10774, section 3. Differs: the source's evaluation code ranks the query's own
// page like any other and takes at least 3 pages. Here a query always attends to its own page, and
// the spec gives the number of pages.
#pragma once

#include <cstddef>
#include <vector>

#include "kvcheck/base/position.h"
#include "kvcheck/sim/cache/visible.h"
#include "kvcheck/sim/spec/settings.h"

namespace kv {

// The number of tokens that a query at that position attends to. Cost: O(1).
std::size_t attended_by(const TopPages& sizes, Position query);

// The bounds of one kv-head's pages, and the selection of pages by them. Not thread-safe.
class PageChoice {
 public:
  // `dim` is the length of a key or query.
  PageChoice(const TopPages& sizes, std::size_t dim);

  // Adds the key of the next token: [dim]. Cost: O(dim).
  void add(const float* key);

  [[nodiscard]] std::size_t tokens() const { return tokens_; }

  // The bound of the page for a query: [dim]. Requires that the page has a token. Cost: O(dim).
  [[nodiscard]] float bound(std::size_t page, const float* query);

  // The tokens that the query ([dim]) at that position attends to: no sinks, the selected pages as
  // the middle, and its own page as the recent run. If no page is left out, everything is one
  // recent run. Requires the keys of all pages before its own. The result is valid until the next
  // call. Cost: O(pages * dim + attended).
  Visible select(const float* query, Position position);

  // The size of the stored bounds in bytes.
  [[nodiscard]] std::size_t bytes() const {
    return (least_.size() + greatest_.size()) * sizeof(float);
  }

 private:
  TopPages sizes_;
  std::size_t dim_;
  std::size_t tokens_ = 0;
  std::vector<float> least_;     // [pages, dim]
  std::vector<float> greatest_;  // [pages, dim]
  std::vector<float> corner_;    // [dim], scratch: the numbers behind one bound
  std::vector<float> bounds_;    // [pages], scratch
  std::vector<std::size_t> order_;
  std::vector<Position> selected_;
};

}  // namespace kv
