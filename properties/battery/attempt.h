// One law tried on one case.
#pragma once

#include <optional>

#include "kvcheck/properties/law.h"

namespace kv::properties {

struct Attempt {
  Judgement judgement;
  Coverage coverage;
  std::optional<History> history;  // the case's own run, of laws that judge one

  // Where the subject's process died of it: how, and the run that killed it.
  std::string death{};
  std::optional<Case> died_of{};

  [[nodiscard]] const Finding* finding() const { return std::get_if<Finding>(&judgement); }
};

// Runs the case and judges it; a relation runs what it needs. A refused setup is not tested, and a
// subject that fails in a run of a relation's own breaks the relation, unless its process dies.
// Requires a law that is not statistical.
Attempt attempt(const Law& law, Family& family, const Case& what);

// Whether the law judges the history under a contract and finds it broken. Requires a law that
// judges histories.
bool breaks(const Law& law, const History& history, const Contract& contract);

// Whether every law that judges histories and applies under the contract holds of this history.
bool all_hold(const History& history, const Contract& contract);

bool is_judge(const Law& law);
bool is_relation(const Law& law);

}  // namespace kv::properties
