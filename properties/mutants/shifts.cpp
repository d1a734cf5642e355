// Keys rotated again, wrongly: when a gap closes, or when a shift is asked for.
#include "kvcheck/properties/mutants/wrong.h"

namespace kv::properties {
namespace {

struct ShiftWrong : Wrong {
  static TaggedOptions options() {
    return {.visibility = Visibility::causal, .positions = PositionMode::shifted};
  }

  // The rotation of the row's key, in positions; `delta` would be right.
  virtual double rotation_by(const CacheUnit&, const StoredRow&, double delta) { return delta; }

  // Called after a key was rotated.
  virtual void rotated(StoredVectors&) {}

  void close_gaps(CacheUnit& unit) override {
    for (std::size_t i = 0; i < unit.rows.size(); ++i) {
      StoredRow& row = unit.rows[i];
      const double delta = static_cast<double>(i) - row.position;
      const double by = rotation_by(unit, row, delta);
      row.slot = i;
      row.position += delta;
      if (by == 0) continue;
      for (StoredVectors& vectors : row.vectors) {
        rotate_key(vectors.key, by, options_.layout);
        rotated(vectors);
      }
    }
  }
};

struct ShiftsSinks final : ShiftWrong {
  double rotation_by(const CacheUnit& unit, const StoredRow&, double delta) override {
    return delta + static_cast<double>(unit.rows.size()) -
           static_cast<double>(unit.rows.back().position + 1);
  }

  void close_gaps(CacheUnit& unit) override {
    if (unit.rows.empty()) return;
    const double all = static_cast<double>(unit.rows.size()) - 1 - unit.rows.back().position;
    for (std::size_t i = 0; i < unit.rows.size(); ++i) {
      unit.rows[i].slot = i;
      rotate(unit.rows[i], all);
    }
  }
};

struct ShiftsTheOtherWay final : ShiftWrong {
  double rotation_by(const CacheUnit&, const StoredRow&, double delta) override { return -delta; }
};

struct ShiftsTwice final : ShiftWrong {
  double rotation_by(const CacheUnit&, const StoredRow&, double delta) override {
    return 2 * delta;
  }
};

struct OnlyRelabels final : ShiftWrong {
  double rotation_by(const CacheUnit&, const StoredRow&, double) override { return 0; }
};

struct SkipsQuantised final : ShiftWrong {
  static TaggedOptions options() {
    return {.visibility = Visibility::causal,
            .positions = PositionMode::shifted,
            .precision = Precision::int8,
            .full_precision_recent = 2};
  }

  double rotation_by(const CacheUnit&, const StoredRow& row, double delta) override {
    return row.vectors.front().full_precision ? delta : 0;
  }
};

struct ShiftsOneLayer final : ShiftWrong {
  double rotation_by(const CacheUnit& unit, const StoredRow&, double delta) override {
    return layer_of(unit) == 0 ? delta : 0;
  }
};

struct OverwritesPending final : ShiftWrong {
  // Keys are rotated when the next chunk of several tokens comes; until then only the last shift is
  // remembered.
  double rotation_by(const CacheUnit&, const StoredRow& row, double delta) override {
    const_cast<StoredRow&>(row).queries = delta;
    return 0;
  }

  void make_room(CacheUnit& unit, std::size_t chunk) override {
    if (chunk < 2) return;
    for (StoredRow& row : unit.rows) {
      const double by = std::exchange(row.queries, 0);
      for (StoredVectors& vectors : row.vectors) rotate_key(vectors.key, by, options_.layout);
    }
  }
};

struct AppliesFactorAgain final : ShiftWrong {
  void rotated(StoredVectors& vectors) override {
    for (float& x : vectors.key) x *= 1.05F;
  }
};

struct RotatesOtherPairs final : ShiftWrong {
  void close_gaps(CacheUnit& unit) override {
    std::swap(options_.layout, other_);
    ShiftWrong::close_gaps(unit);
    std::swap(options_.layout, other_);
  }

  PairLayout other_ = PairLayout::interleaved;
};

struct RotatesInBf16 final : ShiftWrong {
  void rotated(StoredVectors& vectors) override { store_as(vectors.key, Precision::bf16); }
};

struct QuantisesAgain final : ShiftWrong {
  static TaggedOptions options() {
    return {.visibility = Visibility::causal,
            .positions = PositionMode::shifted,
            .precision = Precision::int8};
  }

  void rotated(StoredVectors& vectors) override {
    if (!vectors.full_precision) store_as(vectors.key, Precision::int4);
  }
};

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
      for (StoredVectors& vectors : row.vectors) store_as(vectors.key, Precision::bf16);
    }
  }
};

}  // namespace

std::vector<Mutant> shift_mutants() {
  return {
      {"shift-takes-the-sinks", "the sinks are rotated with the rest", "made", of<ShiftsSinks>},
      {"shift-the-other-way", "keys are rotated on instead of back", "made", of<ShiftsTheOtherWay>},
      {"shift-applied-twice", "the same shift is applied two times", "llama.cpp issue 12160",
       of<ShiftsTwice>},
      {"shift-only-relabels", "positions are renumbered, the keys keep their old rotation",
       "made, after caches of learned positions", of<OnlyRelabels>},
      {"shift-skips-quantised-rows", "rows in low precision are renumbered but not rotated",
       "llama.cpp issues 5652 and 9383", of<SkipsQuantised>},
      {"shift-in-the-first-layer-only", "later layers keep their keys as they were",
       "llama.cpp issue 12357", of<ShiftsOneLayer>},
      {"pending-shift-is-overwritten", "of two shifts before they are applied only the last is",
       "llama.cpp issue 3825", of<OverwritesPending>},
      {"shift-scales-again", "each shift multiplies the keys by a factor meant for once",
       "llama.cpp, shift with a YaRN factor", of<AppliesFactorAgain>},
      {"shift-turns-other-pairs", "stored by halves, rotated as neighbours", "made",
       of<RotatesOtherPairs>},
      {"shift-rounds-to-bf16", "keys declared as f32 are rounded to bf16 at each shift",
       "neural-speed, its fused shift", of<RotatesInBf16>},
      {"shift-quantises-coarser", "each shift quantises again, to fewer bits than declared",
       "llama.cpp issues 5652 and 9743", of<QuantisesAgain>},
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
