// A case as it is run, call by call, where the next call depends on what came of the last.
#pragma once

#include <memory>
#include <vector>

#include "kvcheck/properties/history.h"

namespace kv::properties {

class CaseRun {
 public:
  // On a fresh subject. `contract` is the family's for the setup. The family must outlive it.
  CaseRun(Family& family,
          const Contract& contract,
          const Setup& setup,
          const Stream& stream,
          DrawsOf draws);

  // Makes the call, unless its branch does not exist or the subject failed before.
  void make(const Call& call);

  // What came of all calls so far, without its coverage.
  [[nodiscard]] const History& history() const& { return history_; }

  [[nodiscard]] History history() && { return std::move(history_); }

 private:
  void perform(const Call& call);
  bool answer(const Call& call, Event& event);
  bool snapshot(std::unique_ptr<Subject>& subject, Event& event);

  Family& family_;
  DrawsOf draws_;
  History history_;
  std::vector<std::unique_ptr<Subject>> subjects_;  // of each branch
  Branches branches_{{}};
};

}  // namespace kv::properties
