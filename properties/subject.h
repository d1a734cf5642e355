// A subject: any key/value cache that can say, after every call, what it did with the tokens.
//
// Laws speak to subjects only. Our policies in our cache are one kind (spec_subject.h); mutants, a
// shared library behind the C interface and a process behind the line protocol are the others.
//
// After each call a subject reports three facts apart, because half of the known bugs live in their
// disagreement: the rows returned to attention, with the mask over them; the rows stored
// afterwards; and the number of rows that it reports.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "kvcheck/base/random/draws.h"
#include "kvcheck/properties/stream.h"
#include "kvcheck/properties/token.h"

namespace kv::properties {

// The setup that a subject is made for. The sizes are requests: the contract says which sizes the
// subject really uses.
struct Setup {
  std::uint32_t layers = 1;
  std::uint32_t kv_heads = 1;
  std::uint32_t group = 1;      // query heads per kv-head
  std::uint32_t sequences = 1;  // the batch
  std::uint32_t sinks = 0;
  std::uint32_t recent = 0;
  std::uint32_t budget = 0;
  std::uint64_t seed = 0;  // of the subject's own draws

  [[nodiscard]] std::uint32_t query_heads() const { return kv_heads * group; }

  bool operator==(const Setup&) const = default;
};

// Where a row belongs.
struct Place {
  std::uint32_t sequence = 0;
  std::uint32_t layer = 0;
  std::uint32_t head = 0;  // kv-head

  bool operator==(const Place&) const = default;
};

// The place of a row that does not know where it belongs, as in a subject that keeps plain ids.
inline constexpr Place place_not_reported{0xffffffff, 0xffffffff, 0xffffffff};

inline constexpr double not_reported = std::numeric_limits<double>::quiet_NaN();

// One stored row, as read from its key and its value. A subject that holds no vectors reports the
// same token and place for both.
struct Row {
  Token value;        // the token whose value is stored here
  Token key;          // the token whose key is stored here
  Place value_place;  // the sequence, layer and head that the value was made for
  Place key_place;    // the same of the key
  double position =
      not_reported;  // the rotary position that the key is rotated for; NaN: not reported
  double key_error = not_reported;  // |key - exactly rotated key| / |key|; NaN: no vectors are held
  bool full_precision = true;       // false: stored in a lower precision than it was fed in
  bool apart = false;               // false: the key was not read; its fields repeat the value's

  // The largest distance of any number of the key or value from the number that was fed, in steps
  // of its group's scale: 0.5 for rounding to the nearest code. In full precision, 0 if all numbers
  // are as they were fed, else more. NaN: not reported.
  double steps_off = not_reported;

  // Unreported numbers equal each other.
  bool operator==(const Row& other) const {
    const auto same = [](double a, double b) { return a == b || (a != a && b != b); };
    return value == other.value && key == other.key && value_place == other.value_place &&
           key_place == other.key_place && same(position, other.position) &&
           same(key_error, other.key_error) && full_precision == other.full_precision &&
           apart == other.apart && same(steps_off, other.steps_off);
  }
};

// The row of a subject that holds no vectors and does not know where its rows belong.
inline Row row_of(Token token) {
  return {.value = token,
          .key = token,
          .value_place = place_not_reported,
          .key_place = place_not_reported};
}

// What a call did with one unit.
struct UnitFacts {
  // The rows that attention was given, in slot order, and the mask: visible[i * mask_width + r]
  // says whether query i may attend to returned[r]. Empty after calls that feed nothing.
  std::vector<Row> returned;
  std::size_t mask_width = 0;
  std::vector<std::uint8_t> visible;
  bool listed = false;  // visible rows came as lists: rows and mask are made of them, and fit

  // [queries], the rotary position each query was rotated for; NaN or empty: not reported.
  std::vector<double> query_positions;

  // Where query i counts the position of row r from another offset than the row's own (in-cache
  // positions derived per query): [queries * returned], else empty and Row::position stands.
  std::vector<double> key_positions;

  // [queries * returned], the weights that attention gave, summing to 1 a query; empty: not
  // reported. A unit of several query heads reports their mean.
  std::vector<float> weights;

  // [queries, page_width], where queries select whole pages: the bound that query i had on the
  // logits of page j, NaN where it had none. Logits are plain products of the token inputs
  // (properties/cases/token_inputs.h). Empty: not reported.
  std::vector<double> page_bounds;
  std::size_t page_width = 0;

  std::vector<Row> stored;  // after the call, in slot order
  std::optional<std::uint64_t>
      reported;                        // what the cache says its length is; nothing: not reported
  std::optional<std::uint64_t> moved;  // rows copied so far within or between buffers
  std::optional<std::uint64_t> bytes;  // what the cache says it occupies
};

// What a call did: one entry per (sequence, layer, head), head fastest. Heads are kv-heads; query
// heads where the contract says that each keeps residents of its own. Units that share residents
// are reported once each all the same.
struct Facts {
  std::vector<UnitFacts> units;
};

// A legal answer to any call: the subject does not do this, and nothing has changed.
struct Refused {
  std::string why;
};

struct Done {};

template <typename T>
using Answer = std::variant<T, Refused>;

// The subject crashed, hung, or answered what cannot be understood. What it says is a finding.
class SubjectFailed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The tokens of one call: the same number for every sequence.
struct Feed {
  std::span<const Token> tokens;  // [c], c >= 0; positions are consecutive
  const Stream& stream;           // what attention they pay and receive
  bool report_weights = true;     // false: they are not read
};

// One cache with all its layers, heads and sequences. Not thread-safe. Any call may throw; whatever
// it throws is a finding against the subject.
class Subject {
 public:
  Subject() = default;
  Subject(const Subject&) = delete;
  Subject& operator=(const Subject&) = delete;
  virtual ~Subject() = default;

  // Takes a chunk in.
  virtual Answer<Facts> feed(const Feed& feed) = 0;

  // What is stored and reported now.
  virtual Facts look() = 0;

  // Forgets everything: a second stream must give the same results as on a fresh object.
  virtual Answer<Done> reset() { return Refused{"reset is not offered"}; }

  // An independent copy.
  virtual Answer<std::unique_ptr<Subject>> fork() { return Refused{"fork is not offered"}; }

  // Takes back all but the first `length` tokens fed, as if the others had never been fed. Hostile
  // lengths (negative, above what was fed) are to be refused.
  virtual Answer<Done> truncate(std::int64_t /*length*/) {
    return Refused{"truncate is not offered"};
  }

  // Sequence i becomes a copy of what sequence from[i] was (beams).
  virtual Answer<Done> reorder(std::span<const std::uint32_t> /*from*/) {
    return Refused{"reorder is not offered"};
  }

  // Moves the rotary position of every row from position `begin` on by `delta`.
  virtual Answer<Done> shift(std::int64_t /*begin*/, std::int64_t /*delta*/) {
    return Refused{"shift is not offered"};
  }

  virtual Answer<std::vector<std::uint8_t>> snapshot() {
    return Refused{"snapshot is not offered"};
  }

  virtual Answer<Done> restore(std::span<const std::uint8_t> /*bytes*/) {
    return Refused{"restore is not offered"};
  }
};

// Gives the draws of unit `unit` (its index in Facts::units, or the lowest of those that share).
using DrawsOf = std::function<std::unique_ptr<Draws>(std::uint32_t unit)>;

}  // namespace kv::properties
