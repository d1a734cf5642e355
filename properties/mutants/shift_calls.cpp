// Shifts that are asked for, done wrongly.
#include "kvcheck/properties/mutants/wrong.h"

namespace kv::properties {
namespace {

struct ShiftCallWrong : Wrong {
  static TaggedOptions options() { return {.shifts = true}; }
};

struct IgnoresShift final : ShiftCallWrong {
  void shift_rows(CacheUnit&, std::int64_t, double) override {}
};

struct ShiftsEverything final : ShiftCallWrong {
  void shift_rows(CacheUnit& unit, std::int64_t, double delta) override {
    for (StoredRow& row : unit.rows) rotate(row, delta);
  }
};

// What is pending is noted per unit, and applied before the next chunk.
struct OverwritesPendingCall final : ShiftCallWrong {
  void shift_rows(CacheUnit& unit, std::int64_t begin, double delta) override {
    unit.notes = {static_cast<double>(begin), delta};
  }

  void make_room(CacheUnit& unit, std::size_t chunk) override {
    if (unit.notes.size() == 2) {
      for (StoredRow& row : unit.rows) {
        if (row.token.position >= static_cast<std::int32_t>(unit.notes[0])) {
          rotate(row, unit.notes[1]);
        }
      }
      unit.notes.clear();
    }
    ShiftCallWrong::make_room(unit, chunk);
  }
};

// A rotation done in two halves, each in half precision.
struct ShiftsInHalfPrecision final : ShiftCallWrong {
  void shift_rows(CacheUnit& unit, std::int64_t begin, double delta) override {
    ShiftCallWrong::shift_rows(unit, begin, delta);
    for (StoredRow& row : unit.rows) {
      for (StoredCell& cell : row.cells) store_as(cell.key, Precision::bf16);
    }
  }
};

}  // namespace

std::vector<Mutant> shift_call_mutants() {
  return {
      {"shift-call-does-nothing", "a shift is answered as done and ignored", "llama.cpp issue 9383",
       of<IgnoresShift>},
      {"shift-call-takes-the-sinks", "a shift moves all rows, whatever its range", "made",
       of<ShiftsEverything>},
      {"second-shift-call-overwrites-the-first",
       "a shift is noted for later, and a second one replaces it", "llama.cpp issue 3825",
       of<OverwritesPendingCall>},
      {"shift-call-rounds-to-bf16", "keys declared as f32 are rounded to bf16 by a shift",
       "neural-speed, its fused shift", of<ShiftsInHalfPrecision>},
  };
}

}  // namespace kv::properties
