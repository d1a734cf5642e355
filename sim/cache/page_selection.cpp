#include "kvcheck/sim/cache/page_selection.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "kvcheck/base/check.h"
#include "kvcheck/base/kernels/kernels.h"

namespace kv {

std::size_t attended_by(const TopPages& sizes, Position query) {
  const std::size_t before = std::min<std::size_t>(query / sizes.page, sizes.pages() - 1);
  return before * sizes.page + query % sizes.page + 1;
}

PageChoice::PageChoice(const TopPages& sizes, std::size_t dim)
    : sizes_(sizes), dim_(dim), corner_(dim) {
  KV_CHECK(sizes.page > 0 && sizes.attended >= sizes.page && sizes.attended % sizes.page == 0);
}

void PageChoice::add(const float* key) {
  if (tokens_++ % sizes_.page == 0) {
    least_.insert(least_.end(), key, key + dim_);
    greatest_.insert(greatest_.end(), key, key + dim_);
    return;
  }
  float* const least = least_.data() + least_.size() - dim_;
  float* const greatest = greatest_.data() + greatest_.size() - dim_;
  for (std::size_t d = 0; d < dim_; ++d) {
    least[d] = std::min(least[d], key[d]);
    greatest[d] = std::max(greatest[d], key[d]);
  }
}

// If q is positive, the product with the greatest number is the larger one, else the product with
// the least number.
float PageChoice::bound(std::size_t page, const float* query) {
  const float* const least = least_.data() + page * dim_;
  const float* const greatest = greatest_.data() + page * dim_;
  for (std::size_t d = 0; d < dim_; ++d) corner_[d] = query[d] > 0 ? greatest[d] : least[d];
  // The kernel that computes logits adds in the same order, so rounding cannot lift a logit above
  // the bound.
  float bound = 0;
  kernels().dot_rows(query, corner_.data(), 1, dim_, 1.0F, &bound);
  // NaN means overflow in both directions. The bound is then unknown, so the page ranks first.
  return bound == bound ? bound : std::numeric_limits<float>::infinity();
}

Visible PageChoice::select(const float* query, Position position) {
  const std::size_t page = sizes_.page;
  const std::size_t own = position / page;
  const std::size_t others = sizes_.pages() - 1;
  KV_CHECK(tokens_ >= own * page);
  selected_.clear();
  // No page is left out, so nothing is ranked.
  if (own <= others) return {{0, 0}, selected_, {0, position + 1}};
  bounds_.resize(own);
  for (std::size_t i = 0; i < own; ++i) {
    // Without an order among all bounds nth_element may leave its range, so a NaN is the largest.
    const auto most = bound(i, query);
    bounds_[i] = std::isnan(most) ? std::numeric_limits<float>::infinity() : most;
  }
  order_.resize(own);
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  const auto end = order_.begin() + static_cast<std::ptrdiff_t>(others);
  std::nth_element(order_.begin(), end, order_.end(), [this](std::size_t a, std::size_t b) {
    return bounds_[a] != bounds_[b] ? bounds_[a] > bounds_[b] : a > b;
  });
  std::sort(order_.begin(), end);
  for (auto at = order_.begin(); at != end; ++at) {
    for (std::size_t i = 0; i < page; ++i)
      selected_.push_back(static_cast<Position>(*at * page + i));
  }
  return {{0, 0}, selected_, {static_cast<Position>(own * page), position + 1}};
}

}  // namespace kv
