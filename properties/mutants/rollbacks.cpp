// Tokens taken back, but not quite.
#include "kvcheck/properties/mutants/wrong.h"

namespace kv::properties {
namespace {

struct RollbackWrong : Wrong {
  static TaggedOptions options() { return {.rollback = 6}; }

  // Moves the counters back and leaves the rows.
  void all_back(std::uint64_t length) {
    state_.fed = length;
    for (CacheUnit& unit : state_.units) {
      unit.fed = length;
      unit.released =
          std::min(unit.released, length - std::min<std::uint64_t>(length, contract_.recent));
    }
    while (!state_.past.empty() && state_.past.back().fed > length) state_.past.pop_back();
  }
};

struct ByFirstLayersLength final : RollbackWrong {
  // The stored rows of layer 0 are taken for all that was fed: later layers have nothing to undo.
  void roll_back(std::uint64_t length) override {
    const std::vector<CacheUnit> before = state_.units;
    RollbackWrong::roll_back(length);
    for (CacheUnit& unit : state_.units) {
      if (layer_of(unit) == 0) continue;
      unit.rows = before[index_of(unit)].rows;
    }
  }
};

struct SlicedByLogicalLength final : RollbackWrong {
  void roll_back(std::uint64_t length) override {
    all_back(length);
    for (CacheUnit& unit : state_.units) {
      if (length < unit.rows.size()) unit.rows.resize(length);
    }
  }
};

struct RejectedRowsRemain final : RollbackWrong {
  static TaggedOptions options() { return {.timing = Timing::lazy, .slack = 6, .rollback = 6}; }

  void roll_back(std::uint64_t length) override { all_back(length); }
};

struct NegativeIsTaken final : RollbackWrong {
  Answer<Done> truncate(std::int64_t length) override {
    if (length >= 0) return RollbackWrong::truncate(length);
    for (CacheUnit& unit : state_.units) {
      if (unit.rows.empty()) continue;
      StoredRow row = unit.rows.back();
      row.slot = unit.rows.size();
      for (StoredVectors& vectors : row.vectors) vectors = {};
      unit.rows.push_back(row);
    }
    return Done{};
  }
};

struct TooLongIsTaken final : RollbackWrong {
  Answer<Done> truncate(std::int64_t length) override {
    if (length > static_cast<std::int64_t>(state_.fed)) return Done{};
    return RollbackWrong::truncate(length);
  }
};

struct EvictedAreLost final : RollbackWrong {
  void roll_back(std::uint64_t length) override {
    for (CacheUnit& unit : state_.units) {
      std::erase_if(unit.rows, [length](const StoredRow& row) {
        return row.token.position >= static_cast<std::int32_t>(length);
      });
    }
    all_back(length);
  }
};

struct OneTooMany final : RollbackWrong {
  void roll_back(std::uint64_t length) override {
    RollbackWrong::roll_back(length);
    for (CacheUnit& unit : state_.units) {
      if (!unit.rows.empty()) unit.rows.pop_back();
    }
  }
};

struct ScoresNotTakenBack final : RollbackWrong {
  static TaggedOptions options() { return {.policy = "h2o", .rollback = any_depth}; }

  void roll_back(std::uint64_t length) override {
    const std::vector<CacheUnit> before = state_.units;
    RollbackWrong::roll_back(length);
    for (CacheUnit& unit : state_.units) {
      // Scores are an array of their own, by row.
      const std::vector<StoredRow>& old = before[index_of(unit)].rows;
      for (std::size_t i = 0; i < std::min(old.size(), unit.rows.size()); ++i) {
        unit.rows[i].gathered = old[i].gathered;
      }
    }
  }
};

struct DoesNothing final : RollbackWrong {
  // Says yes, and takes back the counter of the stream only.
  void roll_back(std::uint64_t length) override { state_.fed = length; }
};

struct RefusesWhatItPromised final : RollbackWrong {
  Answer<Done> truncate(std::int64_t length) override {
    if (length + 2 < static_cast<std::int64_t>(state_.fed)) return Refused{"too far"};
    return RollbackWrong::truncate(length);
  }
};

struct LengthIn32Bits final : Wrong {
  static TaggedOptions options() { return {.rollback = 6}; }

  Answer<Done> truncate(std::int64_t length) override {
    return Wrong::truncate(static_cast<std::int32_t>(length));
  }
};

}  // namespace

std::vector<Mutant> rollback_mutants() {
  return {
      {"length-in-32-bits", "a length beyond 2^32 is cut to its low bits, and carried out", "made",
       of<LengthIn32Bits>},
      {"rollback-by-the-first-layers-length",
       "how far to go back is read from layer 0's rows; later layers keep theirs", "rMLX issue 509",
       of<ByFirstLayersLength>},
      {"rollback-slices-by-logical-length",
       "the rows below the logical length are kept, which is all", "mlx-vlm issue 1715",
       of<SlicedByLogicalLength>},
      {"rejected-rows-stay", "the counters go back and the rows of rejected tokens remain",
       "vLLM, a fork's issue 622", of<RejectedRowsRemain>},
      {"negative-rollback-adds-rows", "a negative length is taken and makes unwritten rows visible",
       "mlx-lm pull request 1868", of<NegativeIsTaken>},
      {"rollback-beyond-the-stream-is-taken",
       "a length that was never reached is answered with yes", "made", of<TooLongIsTaken>},
      {"rollback-loses-the-evicted", "what was evicted meanwhile is not restored, though promised",
       "mlx-lm, trimming a rotating cache", of<EvictedAreLost>},
      {"rollback-one-too-many", "one row too many is taken back", "made", of<OneTooMany>},
      {"rollback-leaves-scores", "the rows go back, the attention they gathered does not", "made",
       of<ScoresNotTakenBack>},
      {"rollback-does-nothing", "says yes and leaves the rows", "made", of<DoesNothing>},
      {"rollback-shallower-than-promised", "refuses depths that it declares", "made",
       of<RefusesWhatItPromised>},
  };
}

}  // namespace kv::properties
