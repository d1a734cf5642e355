// Future masses: the attention that each token of one unit will still receive, at every query.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kvcheck/base/position.h"

namespace kv {

// A triangle of numbers, one per (query, token up to it). Memory: 4 * tokens^2 bytes.
class FutureMass {
 public:
  explicit FutureMass(std::size_t tokens);

  // Sets the mass that the query pays to each token: [query + 1], none negative.
  void set_row(Position query, std::span<const double> mass);

  // Replaces each row by the sum of itself and all later rows. Call it once, after the last row.
  void close();

  [[nodiscard]] std::size_t tokens() const { return tokens_; }

  // [query + 1]: for each token the sum of the mass that this query and all later ones pay to it.
  // It never increases with the query. Requires close().
  [[nodiscard]] std::span<const double> from(std::size_t query) const {
    return {sums_.data() + query * (query + 1) / 2, query + 1};
  }

  // The sum over all queries and tokens. Requires close().
  [[nodiscard]] double total() const { return total_; }

 private:
  std::size_t tokens_;
  std::vector<double> sums_;
  double total_ = 0;
};

}  // namespace kv
