// The mean and the covariance of the queries of each head, and what attention a key expects from
// queries with these.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kvcheck/policies/policy.h"

namespace kv {

// Which covariance counts: none, that of each channel alone, or that of all pairs of channels.
enum class Covariance { none, diagonal, full };

// Sums in double, so that no query is stored. Costs O(heads * keys) a query, where keys is 0, 1 or
// dim times dim, as the covariance has it.
class QueryMoments {
 public:
  explicit QueryMoments(Covariance covariance) : covariance_(covariance) {}

  // Of all heads of one token. Requires the shape of the first call.
  void add(const HeadVectors& queries);

  // Makes `exponent` that of a query head, over keys of dim numbers. Where no query was added, it
  // is 0 for all keys.
  void select(std::size_t head, std::size_t dim);

  // k.mu / sqrt(d) + k.S.k / 2d for a key of the selected head, where mu is the mean of its queries
  // and S their covariance: the logarithm of E[exp(k.q / sqrt(d))] where q is normally distributed.
  [[nodiscard]] double exponent(const float* key) const;

  void save(ByteWriter& writer) const;
  void load(ByteReader& reader);

 private:
  // The number of channels with which each channel's products are summed.
  [[nodiscard]] std::size_t partners(std::size_t dim) const;

  // The partner with that index of a channel.
  [[nodiscard]] std::size_t channel_of(std::size_t channel, std::size_t partner) const {
    return covariance_ == Covariance::full ? partner : channel;
  }

  Covariance covariance_;
  std::uint64_t count_ = 0;              // of queries
  std::vector<double> sums_;             // [heads, dim]
  std::vector<double> products_;         // [heads, dim, partners]
  std::vector<double> linear_, square_;  // the coefficients of the selected head
};

}  // namespace kv
