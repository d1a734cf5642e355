// What the battery says of a law that was broken: the smallest case, the finding, the declaration
// that would make it legal, and the words that repeat it.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "kvcheck/properties/battery/battery.h"
#include "kvcheck/properties/battery/campaign.h"
#include "kvcheck/properties/cases/shrink.h"

namespace kv::properties {

// What explaining needs of the battery that found a law broken.
class Explainer {
 public:
  // `pool`: whose first cases a declaration must make legal too; null: the case at hand is enough.
  Explainer(Family& family, const BatteryOptions& options, const Campaign* pool)
      : family_(family), options_(options), pool_(pool) {}

  // Fills in all of a broken LawResult. `seconds`: of shrinking, with a clock.
  void explain(LawResult& result, const CaseTree& failing, double seconds);

  // The same where the subject died: `how` says so. Shrinks by a process a candidate, and finds the
  // call at which it dies.
  void explain_death(LawResult& result, const CaseTree& failing, std::string how, double seconds);

 private:
  struct Seen {
    History history;
    std::map<std::string, Contract> relaxed;  // by declaration
  };

  [[nodiscard]] Shrunk shrink_alive(const Law& law, const CaseTree& failing, double seconds) const;
  std::string legal_if(const Law& law, const History& history);
  const std::vector<Seen>& seen();

  Family& family_;
  const BatteryOptions& options_;
  const Campaign* pool_;
  std::vector<Seen> seen_;
};

// How the subject dies when the law is tried on the case; empty: it lives.
std::string death_in(const Law& law, Family& family, const Case& what, double case_seconds);

}  // namespace kv::properties
