// A policy: decides which tokens of one unit's cache go. Nothing else.
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
// The cache calls, in this order:
//   observe   once per query, with the attention that the query paid and what its own token
//             brought, as far as needs() asks; never if it asks for nothing
//   evict     when the middle holds more than its capacity: names those who go
//   forget    after every eviction, also of tokens that no decision was needed for (capacity 0)
//
// Where the units of a layer share their budget (sim/cache/cache_group.h), scores() is called in
// place of evict: of every unit's policy at every decision, and the lowest of all go.
//
// One object serves one unit and is not thread-safe. Breaking a requirement fails a KV_CHECK.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kvcheck/base/bytes.h"
#include "kvcheck/base/position.h"
#include "kvcheck/base/random/draws.h"
#include "kvcheck/base/token_class.h"

namespace kv {

// What a policy must see to decide. A replay computes no more than the policies ask for.
struct Needs {
  bool attention = false;      // the row of attention over what the query saw
  bool keys = false;           // the token's keys, before rotation
  bool values = false;         // the token's values
  bool queries = false;        // the token's queries, before rotation
  bool token_classes = false;  // what kind of word the token is

  // Whether observe() is called at all.
  [[nodiscard]] bool any() const { return attention || vectors() || token_classes; }

  [[nodiscard]] bool vectors() const { return keys || values || queries; }

  bool operator==(const Needs&) const = default;
};

// How tokens that leave the recent window reach evict().
enum class Leaving {
  one_by_one,  // each with a call of its own: the rule
  in_bulk,     // all that a trim releases in one call: for rankings, whose answer is the same
  // either way (policies/parts/by_rank.h), and for what resamples the cache at every trim
};

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

class Policy {
 public:
  Policy() = default;
  Policy& operator=(const Policy&) = delete;
  virtual ~Policy() = default;

  [[nodiscard]] virtual Needs needs() const { return {}; }

  [[nodiscard]] virtual Leaving leaving() const { return Leaving::one_by_one; }

  // Learns from one query. The ranks that it sees are those of the query before it, but for what
  // was forgotten since, and one more: its own token's.
  virtual void observe(const Observation& /*observation*/) {}

  // Names who goes: `victims`, empty on entry, receives indices into candidates.positions, strictly
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

  // What each candidate is worth, [n], none NaN; the view holds until the next call. Here capacity
  // is what the units may keep on average, and n may be less or 0. Only if scores_compare().
  [[nodiscard]] virtual std::span<const double> scores(const Candidates& /*candidates*/) {
    return {};
  }

 protected:
  Policy(const Policy&) = default;
};

}  // namespace kv
