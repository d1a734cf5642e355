// What the battery says of a law that was broken: the smallest case, the finding, the declaration
// that would make it legal, and the words that repeat it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
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

  // A broken law, the case that broke it, and how long that may be shrunk, with a clock.
  struct Broken {
    LawResult* result = nullptr;
    CaseTree failing;
    double seconds = 0;
  };

  // Fills in all of these results. A subject in this process is run in children only: where it dies
  // of being explained, the result says so. `begin` is called before each; may be null.
  void explain(std::span<const Broken> all, const std::function<void(const LawResult&)>& begin);

  // The same where the subject died: `how` says so. Shrinks by a process a candidate, and finds the
  // call at which it dies.
  void explain_death(LawResult& result, const CaseTree& failing, std::string how, double seconds);

 private:
  struct Seen {
    History history;
    std::map<std::string, Contract> relaxed;  // by declaration
  };

  void explain_here(const Broken& broken);
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

// What a law says of a case, tried where the subject can do no harm.
struct Tried {
  Status status = Status::not_run;
  std::string why;  // of not_run
  Coverage coverage;
  std::string death;  // how the subject died of it; empty: it lives
};

Tried try_apart(const Law& law, Family& family, const Case& what, double case_seconds);

}  // namespace kv::properties
