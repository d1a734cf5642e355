// A history read call by call, with what each branch has been through so far.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "kvcheck/properties/law.h"

namespace kv::properties {

// A shift that was done.
struct DoneShift {
  std::size_t fed = 0;     // tokens of the branch that stood then and still count
  std::int64_t delta = 0;  // by which their positions moved
};

// What a branch has been through, the event at hand included.
struct Lineage {
  // [sequence][position]: the sequence for which the token's rows were made, which reorder moves.
  std::vector<std::vector<std::uint32_t>> origins;
  std::vector<DoneShift> shifts;
  std::vector<std::size_t> begins;  // where in its stream the calls began whose tokens still count
  bool was_full = false;            // it once held more tokens than the budget
  bool rolled_back = false;       // some token was taken back
  bool begun_anew = false;        // a reset was done
  const Event* before = nullptr;  // the branch's last event, or its parent's; null: none
};

using Visit = std::function<void(const Event& event, std::size_t index, const Lineage& line)>;

void walk(const History& history, const Visit& visit);

// Collects what the events of a history say: the first finding, or that none was judged.
class Verdicts {
 public:
  explicit Verdicts(NotTested untested) : untested_(std::move(untested)) {}

  [[nodiscard]] bool found() const { return finding_.has_value(); }

  void tested() { tested_ = true; }

  void accuse(Finding finding) {
    if (!finding_) finding_ = std::move(finding);
  }

  [[nodiscard]] Judgement judgement() const {
    if (finding_) return *finding_;
    if (!tested_) return untested_;
    return std::monostate{};
  }

 private:
  NotTested untested_;
  std::optional<Finding> finding_;
  bool tested_ = false;
};

}  // namespace kv::properties
