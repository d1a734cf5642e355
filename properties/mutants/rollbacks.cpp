// Tokens taken back, but not quite.
#include "kvcheck/properties/mutants/wrong.h"

namespace kv::properties {
namespace {

class RollbackWrong : public Wrong {
 public:
  using Wrong::Wrong;

  static PlainOptions options() { return {.rollback = 6}; }

 protected:
  // Moves the counters back and leaves the rows.
  void counters_back(PlainGroup& group, std::uint64_t length) const {
    group.fed = length;
    const std::uint64_t recent = std::min<std::uint64_t>(length, contract_.recent);
    group.released = std::min(group.released, length - recent);
  }

  void all_back(std::uint64_t length) {
    state_.fed = length;
    for (PlainGroup& group : state_.groups) counters_back(group, length);
    while (!state_.past.empty() && state_.past.back().fed > length) state_.past.pop_back();
  }
};

class ByFirstLayersLength final : public RollbackWrong {
  using RollbackWrong::RollbackWrong;

  // The stored rows of layer 0 are taken for all that was fed: later layers have nothing to undo.
  void roll_back(std::uint64_t length) override {
    const std::vector<PlainGroup> before = state_.groups;
    RollbackWrong::roll_back(length);
    for (PlainGroup& group : state_.groups) {
      if (layer_of(group) == 0) continue;
      group.rows = before[index_of(group)].rows;
    }
  }
};

class SlicedByLogicalLength final : public RollbackWrong {
  using RollbackWrong::RollbackWrong;

  void roll_back(std::uint64_t length) override {
    all_back(length);
    for (PlainGroup& group : state_.groups) {
      if (length < group.rows.size()) group.rows.resize(length);
    }
  }
};

class RejectedStay final : public RollbackWrong {
 public:
  using RollbackWrong::RollbackWrong;

  static PlainOptions options() { return {.timing = Timing::lazy, .slack = 6, .rollback = 6}; }

 private:
  void roll_back(std::uint64_t length) override { all_back(length); }
};

class NegativeIsTaken final : public RollbackWrong {
  using RollbackWrong::RollbackWrong;

  Answer<Done> truncate(std::int64_t length) override {
    if (length >= 0) return RollbackWrong::truncate(length);
    for (PlainGroup& group : state_.groups) {
      if (group.rows.empty()) continue;
      PlainRow row = group.rows.back();
      row.slot = group.rows.size();
      for (PlainCell& cell : row.cells) cell = {};
      group.rows.push_back(row);
    }
    return Done{};
  }
};

class TooLongIsTaken final : public RollbackWrong {
  using RollbackWrong::RollbackWrong;

  Answer<Done> truncate(std::int64_t length) override {
    if (length > static_cast<std::int64_t>(state_.fed)) return Done{};
    return RollbackWrong::truncate(length);
  }
};

class EvictedAreLost final : public RollbackWrong {
  using RollbackWrong::RollbackWrong;

  void roll_back(std::uint64_t length) override {
    for (PlainGroup& group : state_.groups) {
      std::erase_if(group.rows, [length](const PlainRow& row) {
        return row.token.position >= static_cast<std::int32_t>(length);
      });
    }
    all_back(length);
  }
};

class OneTooMany final : public RollbackWrong {
  using RollbackWrong::RollbackWrong;

  void roll_back(std::uint64_t length) override {
    RollbackWrong::roll_back(length);
    for (PlainGroup& group : state_.groups) {
      if (!group.rows.empty()) group.rows.pop_back();
    }
  }
};

class ScoresStay final : public RollbackWrong {
 public:
  using RollbackWrong::RollbackWrong;

  static PlainOptions options() { return {.policy = PlainPolicy::h2o, .rollback = any_depth}; }

 private:
  void roll_back(std::uint64_t length) override {
    const std::vector<PlainGroup> before = state_.groups;
    RollbackWrong::roll_back(length);
    for (PlainGroup& group : state_.groups) {
      // Scores are an array of their own, by row.
      const std::vector<PlainRow>& old = before[index_of(group)].rows;
      for (std::size_t i = 0; i < std::min(old.size(), group.rows.size()); ++i) {
        group.rows[i].gathered = old[i].gathered;
      }
    }
  }
};

class DoesNothing final : public RollbackWrong {
  using RollbackWrong::RollbackWrong;

  // Says yes, and takes back the counter of the stream only.
  void roll_back(std::uint64_t length) override { state_.fed = length; }
};

class RefusesWhatItPromised final : public RollbackWrong {
  using RollbackWrong::RollbackWrong;

  Answer<Done> truncate(std::int64_t length) override {
    if (length + 2 < static_cast<std::int64_t>(state_.fed)) return Refused{"too far"};
    return RollbackWrong::truncate(length);
  }
};

}  // namespace

std::vector<Mutant> rollback_mutants() {
  return {
      mutant<ByFirstLayersLength>("rollback-by-the-first-layers-length",
                                  "how far to go back is read from layer 0's rows; later layers "
                                  "keep theirs",
                                  "rMLX issue 509"),
      mutant<SlicedByLogicalLength>("rollback-slices-by-logical-length",
                                    "the rows below the logical length are kept, which is all",
                                    "mlx-vlm issue 1715"),
      mutant<RejectedStay>("rejected-rows-stay",
                           "the counters go back and the rows of rejected tokens remain",
                           "vLLM, a fork's issue 622"),
      mutant<NegativeIsTaken>("negative-rollback-adds-rows",
                              "a negative length is taken and makes unwritten rows visible",
                              "mlx-lm pull request 1868"),
      mutant<TooLongIsTaken>("rollback-beyond-the-stream-is-taken",
                             "a length that was never reached is answered with yes", "made"),
      mutant<EvictedAreLost>("rollback-loses-the-evicted",
                             "what was evicted meanwhile is not brought back, though promised",
                             "mlx-lm, trimming a rotating cache"),
      mutant<OneTooMany>("rollback-one-too-many", "one row too many is taken back", "made"),
      mutant<ScoresStay>("rollback-leaves-scores",
                         "the rows go back, the attention they gathered does not", "made"),
      mutant<DoesNothing>("rollback-does-nothing", "says yes and leaves the rows", "made"),
      mutant<RefusesWhatItPromised>("rollback-shallower-than-promised",
                                    "refuses depths that it declares", "made"),
  };
}

}  // namespace kv::properties
