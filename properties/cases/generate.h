// Where cases come from: configurations swept along their edges, with streams and calls drawn for
// each; and the simpler cases that a case may shrink to.
//
// RapidCheck makes them: generators that draw evenly (its inRange otherwise grows with a size), and
// its shrink trees, walked by a bounded loop of our own (shrink.h).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "kvcheck/properties/contract.h"
#include "kvcheck/properties/law.h"

namespace kv::properties {

// A case and, found only when asked for, the simpler ones that it may shrink to. A value: copying
// shares.
class CaseTree {
 public:
  // The tree of a case. Its shrinks depend on the case alone, so that a case that was printed and
  // parsed shrinks as it did when it was drawn. Sizes shrink only if `takes_sizes`.
  CaseTree(const Case& root, bool takes_sizes);

  [[nodiscard]] const Case& value() const;

  // Calls `take` with one simpler case after the other, the boldest first, until it gives true.
  void simpler(const std::function<bool(const CaseTree&)>& take) const;

 private:
  struct Impl;

  explicit CaseTree(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

  std::shared_ptr<const Impl> impl_;
};

// How long the stream of a case is, and how it is cut.
struct Length {
  enum class Way {
    decode,  // token by token
    edges,   // in leaps, but token by token over positions at which counters overflow
    wide,    // in chunks of about a block of 64, 128 or 256 tokens
    room,    // with a budget of about a block, filled twice
  };

  std::uint32_t tokens = 0;  // 0: as long as the sizes ask for, a few dozen tokens mostly
  Way way = Way::decode;
};

// What cases are made for.
struct CaseScope {
  Wants wants;
  Setup requested;          // tried in a share of the cases, and alone without takes_sizes
  bool takes_sizes = true;  // whether other sizes can be made
  std::uint64_t seed = 1;
  bool shared = false;  // many laws judge these cases, and no law has others

  // What a subject of a setup declares; nothing if it refuses the setup.
  std::function<std::optional<Contract>(const Setup&)> contract{};

  // The length of a case, by its index; null: none is long.
  std::function<Length(std::uint64_t index)> length{};
};

// An endless list of cases, addressed by index: at(i) does not depend on what else was asked.
//
// The first hundred sweep sinks 0 to 3, recent 0 to 4 and budgets from sinks + recent to 4 more,
// in an order of the seed; setups that the subject refuses are drawn anew. Chunks are of the sizes
// at which caches break (1, 2, and the recent window and the budget give or take one), streams long
// enough for evictions and wraps in most cases, and every requested kind of call happens in most.
// One case in six has many layers, heads or sequences (shapes.h), of those of one law one in four.
// Long cases (CaseScope::length) are of few units, and of the sweep's sizes but for Way::room.
class CaseSource {
 public:
  explicit CaseSource(CaseScope scope) : scope_(std::move(scope)) {}

  [[nodiscard]] CaseTree at(std::uint64_t index) const;

 private:
  CaseScope scope_;
};

// Simpler cases than `what`, the boldest first: fewer calls, fewer tokens, smaller sizes, merged
// chunks, plainer streams. Never one of more tokens or calls, so that shrinking ends.
std::vector<Case> simpler_cases(const Case& what, bool takes_sizes);

}  // namespace kv::properties
