// A history: what a subject did in one case. Recorded first, judged later, by any number of laws.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kvcheck/properties/case.h"
#include "kvcheck/properties/contract.h"
#include "kvcheck/properties/family.h"
#include "kvcheck/properties/subject.h"

namespace kv::properties {

// Of each branch, the tokens that were fed and still count.
using Branches = std::vector<std::vector<Token>>;

// The tokens of a feed, none of another call. Requires that the call's branch exists.
std::vector<Token> tokens_of(const Call& call, const Branches& branches);

// What a call that fed these tokens and was not refused does to the branches.
void carry_out(const Call& call, std::span<const Token> fed, Branches& branches);

// What a truncation to `length` leaves of the tokens that were fed.
void keep_first(std::int64_t length, std::vector<Token>& fed);

// One call and what came of it.
struct Event {
  Call call;
  bool refused = false;
  std::string why{};  // it was refused

  // Of a feed: the tokens of this call; and of any call: all tokens fed on its branch that still
  // count, in stream order, this call's included.
  std::vector<Token> fed{};
  std::vector<Token> branch{};

  // What feed() reported; after any other call what look() reported.
  Facts facts{};

  std::uint32_t branches = 1;  // that exist after the call
};

// What a history went through, without which a law has not been tested.
struct Coverage {
  bool eviction = false;    // some row was stored and later was not
  bool wide_chunk = false;  // a chunk longer than the recent window (than the budget without one)
  bool wrap = false;        // a whole budget of tokens was fed after the budget was full
  bool refusal = false;     // a call was refused

  Coverage& operator|=(const Coverage& other);
};

struct History {
  Case what;
  Contract contract{};
  std::vector<Event> events{};
  Coverage coverage{};

  // Set when the subject threw, crashed or hung; events holds what came before.
  std::string failure{};

  // The failure took the subject's process with it, or left it out of step: no event is known.
  bool died = false;

  // Of a part of a recorded run: the layer and the head from which its own count.
  Place origin{};

  // The number of units that each Facts must have.
  [[nodiscard]] std::size_t units() const;

  // The place of unit `index` in the whole run; `head` counts query heads with Unit::head.
  [[nodiscard]] Place place_of(std::size_t index) const;
};

// What the facts of a history show. Cost: a set of tokens for each unit and call.
Coverage coverage_of(const History& history);

// Runs a case on a fresh subject: calls on branches that do not exist (a fork was refused, or
// shrunk away) are left out. An error if the family refuses the setup.
Result<History> run_case(Family& family, const Case& what, const DrawsOf& draws);

// With the draws of the case's own seed.
Result<History> run_case(Family& family, const Case& what);

}  // namespace kv::properties
