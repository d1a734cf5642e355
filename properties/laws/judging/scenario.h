// The runs that relations compare: cases made from the case at hand, and families that alter calls
// on their way to the subject.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kvcheck/properties/law.h"
#include "kvcheck/properties/laws/judging/facts.h"

namespace kv::properties {

// A case cut at its first call of a kind.
struct Cut {
  std::vector<Call> head;  // everything before
  Call at;
  std::vector<Call> tail;  // the feeds after it, on branch 0; at least one
};

// An error if no such call is on branch 0.
Result<Cut> cut_at(const Case& what, Call::Kind kind);

// The feeds among the calls, all on branch 0 and of variant 0.
std::vector<Call> feeds_among(const std::vector<Call>& calls);

// The feeds of a case, on branch 0 and of variant 0.
std::vector<Call> feeds_of(const Case& what);

// At least `tokens` of them: begun again from the first where they are too few, as far as the
// contract allows such chunks there.
std::vector<Call> feeds_of(const Case& what, std::uint64_t tokens, const Contract& contract);

// A stream of the case's setup that makes the subject evict again and again: `tokens` tokens one by
// one. Where nothing is evicted after a prompt, `tokens` tokens as a prompt, and two more.
Case evicting(const Case& what, std::uint64_t tokens, const Contract& contract);

Call feed_call(std::int64_t tokens, std::int32_t variant = 0, std::uint32_t branch = 0);

// Takes the case's setup and stream, with other calls.
Case with_calls(const Case& what, std::vector<Call> calls);

// The tokens of a case cut in two ways; no chunk is longer than the contract allows.
struct Partitions {
  std::uint64_t tokens = 0;
  std::vector<std::uint32_t> given;  // as the case cuts them
  std::vector<std::uint32_t> whole;  // as few chunks as can be
};

Partitions partitions_of(const Case& what, const Contract& contract);

// Tokens fed, taken back, and the rest of the stream fed; and the same as if they had never been
// fed. The first truncate on branch 0 that takes back a part says where the cut is, or the first.
struct Rollback {
  std::vector<Call> with;
  std::size_t at = 0;  // the truncate's index in `with`
  std::vector<Call> without;
  std::size_t from = 0;  // what `without` does from here on, `with` is to do after `at`
  std::int64_t length = 0;
};

// An error where the case has no truncate that takes anything back.
Result<Rollback> rollback_of(const Case& what);

// Comes between the caller and the subject at each feed, and may change it.
class Alteration {
 public:
  Alteration() = default;
  Alteration(const Alteration&) = delete;
  Alteration& operator=(const Alteration&) = delete;
  virtual ~Alteration() = default;
  virtual Answer<Facts> feed(Subject& subject, const Feed& feed) = 0;
};

using MakeAlteration = std::function<std::unique_ptr<Alteration>(const Setup& setup)>;

// The family, with an alteration before each subject that it makes; forks have none.
std::unique_ptr<Family> altered(Family& family, MakeAlteration make);

// Compares events of two histories one by one, unit by unit: `seen` is to do as `expected` does.
struct Side {
  const History& history;
  std::size_t first = 0;     // the first event to compare
  std::uint32_t branch = 0;  // events of other branches are passed over
};

// `as` begins the finding: "as if they had never been fed".
std::optional<Finding> disagreement(const Side& expected,
                                    const Side& seen,
                                    const Compare& compare,
                                    std::string_view as,
                                    const std::function<bool(std::size_t unit)>& which = {});

// The first disagreement of two whole runs, branch by branch.
std::optional<Finding> disagreement_of_all(const History& expected,
                                           const History& seen,
                                           const Compare& compare,
                                           std::string_view as);

// For relations that change the order of floating-point sums: two scores that differ by a rounding
// may then be ranked the other way round by a right subject. A relation that breaks is tried under
// twelve other seeds of the stream and counts as broken only if two of those break it too: a real
// fault does not need a tie.
Judgement unless_rounding(const Case& what, const std::function<Judgement(const Case&)>& relation);

}  // namespace kv::properties
