#include "kvcheck/policies/attention/query_moments.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "kvcheck/base/kernels/kernels.h"

namespace kv {

void QueryMoments::add(const HeadVectors& queries) {
  const std::size_t dim = queries.dim;
  ++count_;
  sums_.resize(queries.heads() * dim);
  products_.resize(queries.heads() * dim * partners(dim));
  for (std::size_t head = 0; head < queries.heads(); ++head) {
    const std::span<const float> query = queries.head(head);
    for (std::size_t i = 0; i < dim; ++i) {
      const std::size_t at = head * dim + i;
      sums_[at] += static_cast<double>(query[i]);
      for (std::size_t j = 0; j < partners(dim); ++j) {
        products_[at * partners(dim) + j] +=
            static_cast<double>(query[i]) * static_cast<double>(query[channel_of(i, j)]);
      }
    }
  }
}

// The covariance is E[xy] - E[x]E[y].
void QueryMoments::select(std::size_t head, std::size_t dim) {
  linear_.assign(dim, 0);
  square_.assign(dim * std::max<std::size_t>(partners(dim), 1), 0);
  if (count_ == 0) return;
  const auto count = static_cast<double>(count_);
  const auto d = static_cast<double>(dim);
  for (std::size_t i = 0; i < dim; ++i) {
    const std::size_t at = head * dim + i;
    const double mean = sums_[at] / count;
    linear_[i] = mean / std::sqrt(d);
    for (std::size_t j = 0; j < partners(dim); ++j) {
      const double other = sums_[head * dim + channel_of(i, j)] / count;
      square_[i * partners(dim) + j] =
          (products_[at * partners(dim) + j] / count - mean * other) / (2 * d);
    }
  }
}

double QueryMoments::exponent(const float* key) const {
  const Kernels& kernel = kernels();
  const std::size_t dim = linear_.size();
  if (covariance_ != Covariance::full) {
    return kernel.quadratic(key, linear_.data(), square_.data(), dim);
  }
  double spread = 0;
  for (std::size_t i = 0; i < dim; ++i) {
    spread += double{key[i]} * kernel.dot_weights(key, square_.data() + i * dim, dim);
  }
  return kernel.dot_weights(key, linear_.data(), dim) + spread;
}

void QueryMoments::save(ByteWriter& writer) const {
  writer.put(count_);
  writer.put(sums_);
  writer.put(products_);
}

void QueryMoments::load(ByteReader& reader) {
  count_ = reader.get<std::uint64_t>();
  reader.get(sums_);
  reader.get(products_);
}

std::size_t QueryMoments::partners(std::size_t dim) const {
  if (covariance_ == Covariance::none) return 0;
  return covariance_ == Covariance::diagonal ? 1 : dim;
}

}  // namespace kv
