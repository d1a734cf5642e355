// What the specification knows of one unit: its rows and how far its stream has come. Values, so
// that forks are copies.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kvcheck/properties/cases/payload.h"

namespace kv::properties {

// One head's key and value, as stored.
struct StoredVectors {
  KeyVector key{};
  ValueVector value{};
  bool full_precision = true;

  // What was fed, as 4 bits cannot hold a tag.
  Token token{};
  Place place{};
  double position = 0;

  // Of the codes: the steps of the key's groups, then the value's. 0: none.
  std::array<float, (key_size + value_size + payload_group - 1) / payload_group> steps{};
};

// One token's row.
struct StoredRow {
  Token token;
  bool evicted = false;      // no later query sees it, though it may still be stored
  bool masked = false;       // and remains stored for good
  double gathered = 0;       // attention from all queries since it came
  double queries = 0;        // those
  float last = 0;            // attention from the last query that saw it
  std::vector<float> key{};  // as the token had it, where queries select pages

  // The payload that a subject lays over the specification, which looks at none of it.
  double position = 0;                   // that the keys are rotated for, as the cache believes
  std::size_t slot = 0;                  // where it lies
  std::vector<StoredVectors> vectors{};  // one per head that shares the unit's residents
};

struct CacheUnit {
  std::vector<StoredRow> rows;  // in stream order, whatever their slots
  std::uint64_t fed = 0;        // tokens
  std::uint64_t released = 0;   // tokens that left the recent window, sinks among them
  std::uint64_t entered = 0;    // tokens that ever came into the middle
  std::uint64_t newcomers = 0;  // of them by the last release
  std::uint64_t moved = 0;      // rows moved to close gaps
  std::vector<double> notes;    // what a rule, or a mutant, remembers beside the rows
};

}  // namespace kv::properties
