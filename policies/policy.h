// A policy: decides which tokens of one unit's cache are evicted. Nothing else.
//
// The cache (sim/cache/unit_cache.h) owns protection, budget, timing, visibility, positions and
// order, so that one piece of code holds every policy to the same budget. A policy knows no
// tensors' storage, no mask and no clock; chance comes in through Draws.
//
// Residents are numbered by rank, their index in stream order: first the sinks, then the middle,
// then the recent tokens. Only the middle may be evicted. A token becomes a candidate when it
// leaves the recent window, and tokens leave it one at a time, in stream order, however the stream
// was cut into chunks: that is what makes a reservoir's law independent of chunking.
//
// Before anything else the cache tells the policy its layer and how places rotate vectors, and asks
// what it needs. Then it calls, in this order:
//   observe   once per query, with the attention that the query paid and what its own token
//             brought, as far as needs() asks; never if it asks for nothing
//   evict     when the middle holds more than its capacity: names the victims
//   forget    after every eviction, also of tokens that no decision was needed for (capacity 0)
//
// Where the units of a layer share their budget (sim/cache/budget_pool.h), scores() is called in
// place of evict: of every unit's policy at every decision, and the lowest of all are evicted.
//
// All that a policy can be asked is a virtual function of Policy, so that a policy that wraps
// another forwards it all.
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

// One query: what it paid to the residents that it could see, and what its own token brought, which
// is now the last of them. What needs() does not ask for is left empty.
struct Observation {
  Position query = 0;

  // [visible], by rank, the query's own key last. The mean over the unit's query heads of their
  // probabilities, renormalised over what was visible; sums to 1.
  std::span<const float> mass{};

  HeadVectors keys{};     // a vector per kv-head of the unit
  HeadVectors values{};   // a vector per kv-head of the unit
  HeadVectors queries{};  // a vector per query head of the unit

  TokenClass token_class = TokenClass::content;

  // For chance on behalf of the query's token; set whenever a cache calls.
  Draws* draws = nullptr;
};

// The middle at a decision.
struct Candidates {
  std::span<const Position> positions;  // [n], strictly increasing; the newcomers come last
  std::size_t newcomers = 0;            // how many have just left the recent window; >= 1
  std::size_t capacity = 0;             // how many may stay; 1 <= capacity < n
  std::size_t first_rank = 0;           // the rank of positions[0]
  std::uint64_t entered = 0;  // tokens that ever left the recent window, newcomers included
};

// The middle of one unit when the units of its layer compete for their shared budget. What a unit
// may keep depends on the scores of all, so there is no capacity; the middle may even be empty.
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

  // In a cache with so many sinks, victims below this position are masked instead of freed: evicted
  // like all others and never seen again, but their rows remain stored beside the budget.
  [[nodiscard]] virtual std::uint64_t masked_below(std::size_t /*sinks*/) const { return 0; }

  // Which layer the unit is in; units of a whole model are in one layer of one. At most once, first
  // of all.
  virtual void set_layer(const LayerOf& /*layer*/) {}

  // How places rotate keys and queries (base/rotation.h), for policies that need the vectors after
  // rotation. Places are ranks where `at_ranks`, else positions. Null: nothing rotates, as without
  // the call. What it points to outlives the policy and its clones. Before any observation.
  virtual void rotate_by(const Rotation* /*rotation*/, bool /*at_ranks*/) {}

  // Learns from one query. The ranks that it sees are those of the query before it, but for what
  // was forgotten since, and one more: its own token's.
  virtual void observe(const Observation& /*observation*/) {}

  // Selects `victims`: empty on entry, it receives indices into candidates.positions, strictly
  // increasing, at least n - capacity of them.
  virtual void evict(const Candidates& candidates,
                     Draws& draws,
                     std::vector<std::size_t>& victims) = 0;

  // The residents of these ranks are gone: strictly increasing, as numbered before the eviction.
  virtual void forget(std::span<const std::size_t> /*ranks*/) {}

  // An independent copy in the same state, for forks and beams.
  [[nodiscard]] virtual std::unique_ptr<Policy> clone() const = 0;

  // The whole state as bytes, and back. What load reads was written by save of the same policy with
  // the same options; anything else is reported by ByteReader::finished.
  virtual void save(ByteWriter& /*writer*/) const {}

  virtual void load(ByteReader& /*reader*/) {}

  // Whether scores() of one unit may be compared with those of another: shares of attention may,
  // ages and lengths of keys may not.
  [[nodiscard]] virtual bool scores_compare() const { return false; }

  // What each candidate is worth, [n], none NaN; the view holds until the next call. Only if
  // scores_compare(). Not const: being asked is a decision, and some policies decide only once.
  [[nodiscard]] virtual std::span<const double> scores(const PooledCandidates& /*candidates*/) {
    return {};
  }

 protected:
  Policy(const Policy&) = default;
};

}  // namespace kv
