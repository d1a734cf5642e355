// What a policy decided, and the attention that it was shown, while it replays one unit. Private to
// sim/.
#pragma once

#include <memory>
#include <vector>

#include "kvcheck/policies/entry.h"
#include "kvcheck/policies/policy.h"
#include "kvcheck/sim/steps/decision.h"

namespace kv {

// Filled while the stream runs.
struct DecisionLog {
  Position seen = 0;  // of the decisions to come; the replay sets it
  std::vector<Decision> decisions;
  std::vector<float> mass;    // the rows that were observed, one after another
  std::size_t most_mass = 0;  // numbers of `mass`; if there are more, none is kept
  bool too_much = false;
};

// Entries whose policies decide as those of another entry do and fill a log for each policy. It is
// used on one thread, because a maker is a plain function that finds the log by the thread.
class LoggedEntry {
 public:
  // The entry must outlive this object. `rows` says whether policies that ask for no attention are
  // shown it too.
  LoggedEntry(const PolicyEntry& entry, bool rows, std::size_t most_mass);
  LoggedEntry(const LoggedEntry&) = delete;
  LoggedEntry& operator=(const LoggedEntry&) = delete;
  ~LoggedEntry();

  [[nodiscard]] const PolicyEntry& entry() const { return logged_; }

  // One for each policy that was made, in order.
  [[nodiscard]] const std::vector<std::unique_ptr<DecisionLog>>& logs() const { return logs_; }

 private:
  static std::unique_ptr<Policy> make(const Options& options);

  const PolicyEntry* wrapped_;
  PolicyEntry logged_;
  bool rows_;
  std::size_t most_mass_;
  std::vector<std::unique_ptr<DecisionLog>> logs_;
};

}  // namespace kv
