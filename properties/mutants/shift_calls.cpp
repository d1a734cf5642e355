// Shifts that are asked for, done wrongly.
#include "kvcheck/properties/mutants/wrong.h"
#include "kvcheck/properties/plain/plain_shifting.h"

namespace kv::properties {
namespace {

class ShiftCallWrong : public PlainShifting {
 public:
  using PlainShifting::PlainShifting;

  static PlainOptions options() { return {}; }

  static void declare(Contract& contract) {
    contract.reference.clear();
    contract.shifts = true;
  }
};

class IgnoresShift final : public ShiftCallWrong {
  using ShiftCallWrong::ShiftCallWrong;

  void shift_rows(PlainGroup&, std::int64_t, double) override {}
};

class ShiftsEverything final : public ShiftCallWrong {
  using ShiftCallWrong::ShiftCallWrong;

  void shift_rows(PlainGroup& group, std::int64_t, double delta) override {
    for (PlainRow& row : group.rows) rotate(row, delta);
  }
};

// What is pending is noted per group, and applied before the next chunk.
class OverwritesPendingCall final : public ShiftCallWrong {
  using ShiftCallWrong::ShiftCallWrong;

  void shift_rows(PlainGroup& group, std::int64_t begin, double delta) override {
    group.notes = {static_cast<double>(begin), delta};
  }

  void make_room(PlainGroup& group, std::size_t chunk) override {
    if (group.notes.size() == 2) {
      for (PlainRow& row : group.rows) {
        if (row.token.position >= static_cast<std::int32_t>(group.notes[0])) {
          rotate(row, group.notes[1]);
        }
      }
      group.notes.clear();
    }
    ShiftCallWrong::make_room(group, chunk);
  }
};

// A rotation done in two halves, each in half precision.
class ShiftsInHalfPrecision final : public ShiftCallWrong {
  using ShiftCallWrong::ShiftCallWrong;

  void shift_rows(PlainGroup& group, std::int64_t begin, double delta) override {
    ShiftCallWrong::shift_rows(group, begin, delta);
    for (PlainRow& row : group.rows) {
      for (PlainCell& cell : row.cells) store_as(cell.key, Precision::bf16);
    }
  }
};

}  // namespace

std::vector<Mutant> shift_call_mutants() {
  return {
      mutant<IgnoresShift>("shift-call-does-nothing", "a shift is answered as done and ignored",
                           "llama.cpp issue 9383"),
      mutant<ShiftsEverything>("shift-call-takes-the-sinks",
                               "a shift moves all rows, whatever its range", "made"),
      mutant<OverwritesPendingCall>("second-shift-call-overwrites-the-first",
                                    "a shift is noted for later, and a second one replaces it",
                                    "llama.cpp issue 3825"),
      mutant<ShiftsInHalfPrecision>("shift-call-rounds-to-bf16",
                                    "keys declared as f32 are rounded to bf16 by a shift",
                                    "neural-speed, its fused shift"),
  };
}

}  // namespace kv::properties
