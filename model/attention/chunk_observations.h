// What a unit's policy is shown: of a chunk, per query, as far as the policy asks for it, the
// attention summed over the unit's heads and the token's own vectors; and of a second reading of a
// prompt the largest attention to each row.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kvcheck/base/token_class.h"
#include "kvcheck/sim/cache/token_vectors.h"
#include "kvcheck/sim/cache/unit_cache.h"

namespace kv::model {

// The rows of a prompt that one pass repeats: ranks `first` to `last`, of `stored` rows. The rows
// from `stored` on are the pass's own.
struct RepeatedRows {
  std::size_t sinks = 0;  // <= first
  std::size_t first = 0;
  std::size_t last = 0;  // <= stored
  std::size_t stored = 0;
};

// The largest share that any query of the passes so far paid to each stored row, of what it paid to
// the sinks, to the rows that its pass repeats and to the rows of the pass itself: the softmax over
// these alone. 0 for the sinks, which no pass repeats.
class RepeatedShares {
 public:
  void begin_pass(const RepeatedRows& rows) {
    rows_ = rows;
    largest_.resize(rows.stored);
  }

  // One head's attention of one query of the pass, by rank, its own token last.
  void add(std::span<const float> mass);

  // [stored], by rank.
  [[nodiscard]] std::span<const float> largest() const { return largest_; }

 private:
  RepeatedRows rows_;
  std::vector<float> largest_;
};

class ChunkObservations {
 public:
  explicit ChunkObservations(std::size_t head_dim) : dim_(head_dim) {}

  // A chunk of `tokens` begins; what is held of the last one is forgotten.
  void begin(const Needs& needs, std::size_t tokens);

  // One head's attention of the chunk's query of that index. Requires needs.attention.
  void add_mass(std::size_t query, std::span<const float> mass);

  // Where the vectors of the chunk's token of that index are gathered. Requires needs.vectors().
  [[nodiscard]] TokenVectors& vectors(std::size_t token) { return vectors_[token]; }

  // Shows the cache's policy what was gathered of the query just asked, over `heads` heads.
  // `classes` are those of the chunk's tokens. Once a query: the sum becomes a mean in place.
  void show(UnitCache& cache,
            std::size_t query,
            std::size_t heads,
            std::span<const TokenClass> classes);

 private:
  std::size_t dim_;
  std::vector<std::vector<float>> mass_;  // [queries][visible]: sums over heads
  std::vector<TokenVectors> vectors_;     // [tokens]
};

}  // namespace kv::model
