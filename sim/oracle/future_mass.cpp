#include "kvcheck/sim/oracle/future_mass.h"

#include <algorithm>

#include "kvcheck/base/check.h"

namespace kv {

FutureMass::FutureMass(std::size_t tokens) : tokens_(tokens), sums_(tokens * (tokens + 1) / 2) {}

void FutureMass::set_row(Position query, std::span<const double> mass) {
  KV_CHECK(query < tokens_ && mass.size() == query + std::size_t{1});
  std::ranges::copy(mass,
                    sums_.begin() + static_cast<std::ptrdiff_t>(from(query).data() - sums_.data()));
}

void FutureMass::close() {
  for (std::size_t query = tokens_; query-- > 0;) {
    double* const row = sums_.data() + query * (query + 1) / 2;
    if (query + 1 < tokens_) {
      const double* const later = from(query + 1).data();
      for (std::size_t token = 0; token <= query; ++token) row[token] += later[token];
    }
    // The last entry now holds all that later queries and its own pay to this token.
    total_ += row[query];
  }
}

}  // namespace kv
