// A case: one setup, one stream and the calls made on it. A value that prints, parses and shrinks.
//
//   sinks=1,recent=2,budget=5,layers=2;stream=hitter,seed=7,planted=3;calls=f3,f1,k,b1:f2,b0:t4,r
//
// Calls, each on a branch (b0 unless it says otherwise):
//   f<n>   feed n tokens; f<n>v<m>: of        t<n>  truncate to n tokens
//          variant m (else 0)
//   k      fork: a new branch, numbered on    r     reset
//   o<..>  reorder: o1.0.0 of three sequences s     snapshot, then restore onto a fresh subject
//   d<n>   shift by -n what follows the sinks
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/properties/stream.h"
#include "kvcheck/properties/subject.h"

namespace kv::properties {

struct Call {
  // In the order of tables of their letters, verbs and words.
  enum class Kind { feed, fork, truncate, reset, reorder, shift, snapshot };

  Kind kind = Kind::feed;
  std::uint32_t branch = 0;
  std::int64_t amount = 0;            // of feed, truncate, shift
  std::int32_t variant = 0;           // of the tokens that feed takes
  std::vector<std::uint32_t> from{};  // of reorder

  bool operator==(const Call&) const = default;
};

// "b1:f3v1".
std::string call_text(const Call& call);

struct Case {
  Setup setup;
  Stream stream;
  std::vector<Call> calls;

  // The tokens that all calls feed together.
  [[nodiscard]] std::uint64_t tokens() const;

  [[nodiscard]] std::string text() const;

  bool operator==(const Case&) const = default;
};

// Errors name the word, what was found and what was expected.
Result<Case> parse_case(std::string_view text);

// A case that only feeds: chunks[i] tokens in the i-th call.
Case feeding(const Setup& setup, const Stream& stream, const std::vector<std::uint32_t>& chunks);

// The same, `tokens` tokens one by one.
Case one_by_one(const Setup& setup, const Stream& stream, std::uint64_t tokens);

}  // namespace kv::properties
