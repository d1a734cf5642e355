#include <utility>

#include "kvcheck/properties/law.h"

namespace kv::properties {

Result<History> Trial::alive(Result<History> history) {
  if (!history) {
    stop_ = Stop{untested(history.error())};
    return history;
  }
  // A death is counted by the battery and is the finding of survives; a failure that the process
  // outlives breaks the relation at hand.
  if (history->died) {
    stop_ = Stop{NotTested{"the subject died"}, history->failure, history->what};
  } else if (!history->failure.empty()) {
    stop_ = Stop{Finding{.expected = "an answer to every call",
                         .seen = "the subject failed: " + history->failure,
                         .failed = true}};
  }
  if (stop_) return malformed(history->failure);
  return history;
}

Result<History> Trial::run(const Case& what) {
  if (stop_) return malformed("an earlier run failed");
  Result<History> history = run_case(family_, what);
  if (history) {
    ++runs_;
    coverage_ |= history->coverage;
  }
  return alive(std::move(history));
}

Result<History> Trial::run_on(Family& family, const Case& what, const DrawsOf& draws) {
  if (stop_) return malformed("an earlier run failed");
  return alive(run_case(family, what, draws));
}

Result<History> Trial::run_on(Family& family, const Case& what) {
  return run_on(family, what, counter_draws(what.setup.seed));
}

}  // namespace kv::properties
