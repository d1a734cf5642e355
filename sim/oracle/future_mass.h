// Future masses: what each token of one unit will still be attended with, at every moment.
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

  // What the query pays to each token: [query + 1], none negative.
  void set_row(Position query, std::span<const double> mass);

  // Turns rows into sums over all queries from one on. Call once, after the last row.
  void close();

  [[nodiscard]] std::size_t tokens() const { return tokens_; }

  // [query + 1]: for each token the sum of what this query and all later ones pay to it. Requires
  // close(). Never increases with the query.
  [[nodiscard]] std::span<const double> from(std::size_t query) const {
    return {sums_.data() + query * (query + 1) / 2, query + 1};
  }

  // What all queries pay to all tokens. Requires close().
  [[nodiscard]] double total() const { return total_; }

 private:
  std::size_t tokens_;
  std::vector<double> sums_;
  double total_ = 0;
};

}  // namespace kv
