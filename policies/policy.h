// A policy decides which tokens of one unit's cache are evicted, and nothing else.
//
// The cache (sim/cache/unit_cache.h) owns protection, budget, timing, visibility, positions and
// order, so that one piece of code holds every policy to the same budget. A policy does not see
// the storage of tensors, the mask or a clock. All its random numbers come from Draws.
//
// Residents are numbered by rank, their index in stream order: first the sinks, then the middle,
// then the recent tokens. Only the middle may be evicted. A token becomes a candidate when it
// leaves the recent window. Tokens leave it one at a time, in stream order, however the stream was
// cut into chunks. The distribution of a reservoir therefore does not depend on chunking.
//
// First the cache calls set_layer, needs and rotate_by. Then it calls, in this order:
//   observe   once per query, with the query's attention and its own token's inputs, as far as
//             needs() asks for them; never if needs() asks for nothing
//   evict     when the middle holds more than its capacity, to select the victims
//   forget    after every eviction, also of tokens that needed no decision (capacity 0)
//
// Where the units of a layer share their budget (sim/cache/budget_pool.h), scores() is called in
// place of evict: every unit's policy is called at every decision, and the lowest scores of all
// units are evicted.
//
// The whole interface consists of virtual functions of Policy, so that a policy that wraps another
// can forward every call.
//
// One object serves one unit and is not thread-safe. Breaking a requirement fails a KV_CHECK.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "kvcheck/base/bytes.h"
#include "kvcheck/base/position.h"
#include "kvcheck/base/random/draws.h"
#include "kvcheck/base/token_class.h"
#include "kvcheck/policies/needs.h"

namespace kv {

class Rotation;

// A token's vectors of one kind: one per head of the unit, by layer, then head.
struct HeadVectors {
  std::span<const float> numbers{};  // [heads, dim]
  std::size_t dim = 0;

  [[nodiscard]] std::size_t heads() const { return dim == 0 ? 0 : numbers.size() / dim; }

  [[nodiscard]] std::span<const float> head(std::size_t index) const {
    return numbers.subspan(index * dim, dim);
  }
};

// One query: the attention that it paid to the residents that it could see, and the inputs of its
// own token, which is now the last of them. What needs() does not ask for is empty.
struct Observation {
  Position query = 0;

  // [visible], by rank, the query's own key last. The mean over the unit's query heads of their
  // probabilities, renormalised over what was visible; sums to 1.
  std::span<const float> mass{};

  HeadVectors keys{};     // a vector per kv-head of the unit
  HeadVectors values{};   // a vector per kv-head of the unit
  HeadVectors queries{};  // a vector per query head of the unit

  // By query head of the unit: the 1-norm of what the layer's output projection makes of the value,
  // which is what the head would add to the residual stream if it paid all attention to the token.
  // Empty unless a model runs: traces and laws have no such matrix.
  std::span<const float> output_norms{};

  TokenClass token_class = TokenClass::content;

  // Random numbers on behalf of the query's token; never null when a cache calls.
  Draws* draws = nullptr;
};

// The middle at a decision.
struct Candidates {
  std::span<const Position> positions;  // [n], strictly increasing; the newcomers come last
  std::size_t newcomers = 0;            // how many of them have just left the recent window; >= 1
  std::size_t capacity = 0;             // how many may be kept; 1 <= capacity < n
  std::size_t first_rank = 0;           // the rank of positions[0]
  std::uint64_t entered = 0;  // tokens that ever left the recent window, newcomers included
};

// The middle of one unit when the units of its layer compete for their shared budget. What a unit
// may keep depends on the scores of all units, so there is no capacity. The middle may be empty.
struct PooledCandidates {
  std::span<const Position> positions;  // [n], strictly increasing; the newcomers come last
  std::size_t newcomers = 0;            // how many of them have just left the recent window
  std::size_t first_rank = 0;           // the rank of positions[0]
};

// Policy::masked_below of a policy that masks every victim.
inline constexpr std::uint64_t masks_all = std::numeric_limits<std::uint64_t>::max();

class Policy {
 public:
  Policy() = default;
  Policy& operator=(const Policy&) = delete;
  virtual ~Policy() = default;

  [[nodiscard]] virtual Needs needs() const { return {}; }

  [[nodiscard]] virtual Leaving leaving() const { return Leaving::one_by_one; }

  // In a cache with `sinks` sinks, victims below this position are masked instead of freed. They
  // are evicted like all others and never seen again, but their rows remain stored beside the
  // budget.
  [[nodiscard]] virtual std::uint64_t masked_below(std::size_t /*sinks*/) const { return 0; }

  // Reports the layer of the unit. A unit of a whole model is in layer 0 of 1. Called at most once,
  // before every other call.
  virtual void set_layer(const LayerOf& /*layer*/) {}

  // Reports how keys and queries are rotated (base/rotation.h), for policies that need the vectors
  // after rotation. Their rotary positions are ranks if `at_ranks`, else positions in the stream.
  // Null means that nothing rotates, as without the call. The rotation outlives the policy and its
  // clones. Called before any observation.
  virtual void rotate_by(const Rotation* /*rotation*/, bool /*at_ranks*/) {}

  // Learns from one query. Its ranks are those of the previous query, without the residents that
  // were forgotten since, and with one more rank for its own token.
  virtual void observe(const Observation& /*observation*/) {}

  // Selects `victims`: empty on entry, it receives indices into candidates.positions, strictly
  // increasing, at least n - capacity of them.
  virtual void evict(const Candidates& candidates,
                     Draws& draws,
                     std::vector<std::size_t>& victims) = 0;

  // Removes the residents of these ranks, which were evicted: strictly increasing, numbered as
  // before the eviction.
  virtual void forget(std::span<const std::size_t> /*ranks*/) {}

  // An independent copy in the same state, for forks and beams.
  [[nodiscard]] virtual std::unique_ptr<Policy> clone() const = 0;

  // Writes the whole state as bytes and reads it back. load expects bytes that the same policy
  // wrote with the same options; ByteReader::finished reports anything else.
  virtual void save(ByteWriter& /*writer*/) const {}

  virtual void load(ByteReader& /*reader*/) {}

  // Whether the scores() of different units may be compared. Shares of attention may be compared;
  // ages and lengths of keys may not.
  [[nodiscard]] virtual bool scores_compare() const { return false; }

  // One score per candidate, [n], none NaN; the lowest are evicted. The view holds until the next
  // call. Called only if scores_compare(). Not const: each call is a decision, and some policies
  // decide only once.
  [[nodiscard]] virtual std::span<const double> scores(const PooledCandidates& /*candidates*/) {
    return {};
  }

 protected:
  Policy(const Policy&) = default;
};

}  // namespace kv
