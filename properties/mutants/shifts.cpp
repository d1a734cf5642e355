// Keys rotated again, wrongly, when a gap closes.
#include "kvcheck/properties/mutants/wrong.h"

namespace kv::properties {
namespace {

class ShiftWrong : public Wrong {
 public:
  using Wrong::Wrong;

  static PlainOptions options() {
    return {.visibility = Visibility::causal, .positions = PositionMode::shifted};
  }

 protected:
  // For every row: what its key is turned by, where `delta` would be right.
  virtual double rotation_by(const PlainGroup&, const PlainRow&, double delta) { return delta; }

  // After the key of a cell was turned.
  virtual void rotated(PlainCell&) {}

  void close_gaps(PlainGroup& group) override {
    for (std::size_t i = 0; i < group.rows.size(); ++i) {
      PlainRow& row = group.rows[i];
      const double delta = static_cast<double>(i) - row.position;
      const double by = rotation_by(group, row, delta);
      row.slot = i;
      row.position += delta;
      if (by == 0) continue;
      for (PlainCell& cell : row.cells) {
        rotate_key(cell.key, by, options_.layout);
        rotated(cell);
      }
    }
  }
};

class ShiftsSinks final : public ShiftWrong {
  using ShiftWrong::ShiftWrong;

  double rotation_by(const PlainGroup& group, const PlainRow&, double delta) override {
    return delta + static_cast<double>(group.rows.size()) -
           static_cast<double>(group.rows.back().position + 1);
  }

  void close_gaps(PlainGroup& group) override {
    if (group.rows.empty()) return;
    const double all = static_cast<double>(group.rows.size()) - 1 - group.rows.back().position;
    for (std::size_t i = 0; i < group.rows.size(); ++i) {
      group.rows[i].slot = i;
      rotate(group.rows[i], all);
    }
  }
};

class ShiftsTheOtherWay final : public ShiftWrong {
  using ShiftWrong::ShiftWrong;

  double rotation_by(const PlainGroup&, const PlainRow&, double delta) override { return -delta; }
};

class ShiftsTwice final : public ShiftWrong {
  using ShiftWrong::ShiftWrong;

  double rotation_by(const PlainGroup&, const PlainRow&, double delta) override {
    return 2 * delta;
  }
};

class OnlyRelabels final : public ShiftWrong {
  using ShiftWrong::ShiftWrong;

  double rotation_by(const PlainGroup&, const PlainRow&, double) override { return 0; }
};

class SkipsQuantised final : public ShiftWrong {
 public:
  using ShiftWrong::ShiftWrong;

  static PlainOptions options() {
    return {.visibility = Visibility::causal,
            .positions = PositionMode::shifted,
            .precision = Precision::int8,
            .full_precision_recent = 2};
  }

 private:
  double rotation_by(const PlainGroup&, const PlainRow& row, double delta) override {
    return row.cells.front().full_precision ? delta : 0;
  }
};

class ShiftsOneLayer final : public ShiftWrong {
  using ShiftWrong::ShiftWrong;

  double rotation_by(const PlainGroup& group, const PlainRow&, double delta) override {
    return layer_of(group) == 0 ? delta : 0;
  }
};

class OverwritesPending final : public ShiftWrong {
  using ShiftWrong::ShiftWrong;

  // Turned when the next chunk of several tokens comes; until then only the last turn is kept.
  double rotation_by(const PlainGroup&, const PlainRow& row, double delta) override {
    const_cast<PlainRow&>(row).queries = delta;
    return 0;
  }

  void make_room(PlainGroup& group, std::size_t chunk) override {
    if (chunk < 2) return;
    for (PlainRow& row : group.rows) {
      const double by = std::exchange(row.queries, 0);
      for (PlainCell& cell : row.cells) rotate_key(cell.key, by, options_.layout);
    }
  }
};

class AppliesFactorAgain final : public ShiftWrong {
  using ShiftWrong::ShiftWrong;

  void rotated(PlainCell& cell) override {
    for (float& x : cell.key) x *= 1.05F;
  }
};

class TurnsOtherPairs final : public ShiftWrong {
  using ShiftWrong::ShiftWrong;

  void close_gaps(PlainGroup& group) override {
    std::swap(options_.layout, other_);
    ShiftWrong::close_gaps(group);
    std::swap(options_.layout, other_);
  }

  PairLayout other_ = PairLayout::interleaved;
};

class TurnsInBf16 final : public ShiftWrong {
  using ShiftWrong::ShiftWrong;

  void rotated(PlainCell& cell) override { store_as(cell.key, Precision::bf16); }
};

class QuantisesAgain final : public ShiftWrong {
 public:
  using ShiftWrong::ShiftWrong;

  static PlainOptions options() {
    return {.visibility = Visibility::causal,
            .positions = PositionMode::shifted,
            .precision = Precision::int8};
  }

 private:
  void rotated(PlainCell& cell) override {
    if (!cell.full_precision) store_as(cell.key, Precision::int4);
  }
};

}  // namespace

std::vector<Mutant> shift_mutants() {
  return {
      mutant<ShiftsSinks>("shift-takes-the-sinks", "the sinks are turned with the rest", "made"),
      mutant<ShiftsTheOtherWay>("shift-the-other-way", "keys are turned on instead of back",
                                "made"),
      mutant<ShiftsTwice>("shift-applied-twice", "the same shift is applied two times",
                          "llama.cpp issue 12160"),
      mutant<OnlyRelabels>("shift-only-relabels",
                           "positions are renumbered, the keys stay turned as they were",
                           "made, after caches of learned positions"),
      mutant<SkipsQuantised>("shift-skips-quantised-rows",
                             "rows in low precision are renumbered but not turned",
                             "llama.cpp issues 5652 and 9383"),
      mutant<ShiftsOneLayer>("shift-in-the-first-layer-only",
                             "later layers keep their keys as they were", "llama.cpp issue 12357"),
      mutant<OverwritesPending>("pending-shift-is-overwritten",
                                "of two shifts before they are applied only the last is",
                                "llama.cpp issue 3825"),
      mutant<AppliesFactorAgain>("shift-scales-again",
                                 "each shift multiplies the keys by a factor meant for once",
                                 "llama.cpp, shift with a YaRN factor"),
      mutant<TurnsOtherPairs>("shift-turns-other-pairs", "stored by halves, turned as neighbours",
                              "made"),
      mutant<TurnsInBf16>("shift-rounds-to-bf16",
                          "keys declared as f32 are rounded to bf16 at each shift",
                          "neural-speed, its fused shift"),
      mutant<QuantisesAgain>("shift-quantises-coarser",
                             "each shift quantises again, to fewer bits than declared",
                             "llama.cpp issues 5652 and 9743"),
  };
}

}  // namespace kv::properties
