// A history read call by call, with what each branch has been through so far.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "kvcheck/properties/law.h"
#include "kvcheck/properties/laws/judging/facts.h"

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
  bool rolled_back = false;         // some token was taken back
  bool begun_anew = false;          // a reset was done
  const Event* before = nullptr;    // the branch's last event, or its parent's; null: none
};

using Visit = std::function<void(const Event& event, std::size_t index, const Lineage& line)>;

void walk(const History& history, const Visit& visit);

// One unit after one event of a history.
struct UnitAt {
  const Event& event;
  std::size_t index;  // of the event
  const Lineage& line;
  const UnitFacts& facts;
  std::size_t unit;
};

// Says what is otherwise than expected, if anything. Sets `tested` where there was something to
// judge.
using CheckUnit = std::function<std::optional<Difference>(const UnitAt& at, bool& tested)>;

// The first difference in any unit after any event; `untested` where there was nothing to judge.
Judgement check_units(const History& history, NotTested untested, const CheckUnit& check);

// One row of a unit: stored, or returned to attention.
struct RowAt : UnitAt {
  const Row& row;
  bool is_stored;
};

using CheckRow = std::function<std::optional<Difference>(const RowAt& at, bool& tested)>;

// The same of every row: of a unit those returned to attention first, then those stored.
Judgement check_rows(const History& history, NotTested untested, const CheckRow& check);

}  // namespace kv::properties
