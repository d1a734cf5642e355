// Scores that lie in a list of their own, beside the rows, and lose the wrong entry when a row
// goes.
#include <numeric>

#include "kvcheck/properties/mutants/wrong.h"

namespace kv::properties {
namespace {

struct ScoresApart : CausalScoredWrong {
  // The entry that goes with row `row` of `rows`.
  virtual std::size_t entry_of(std::size_t row, std::size_t rows) = 0;

  void append(CacheUnit& unit, std::span<const Token> tokens) override {
    CausalScoredWrong::append(unit, tokens);
    unit.notes.resize(unit.rows.size());
  }

  void observe(CacheUnit& unit, const Rows& visible, std::span<const float> mass) override {
    for (std::size_t i = 0; i < visible.size(); ++i) {
      unit.notes[visible[i]] += static_cast<double>(mass[i]);
    }
  }

  std::size_t victim(CacheUnit& unit, const Choice& choice, Draws&) override {
    const auto least = std::ranges::min_element(choice.rows, {}, [&](const StoredRow* row) {
      return unit.notes[static_cast<std::size_t>(row - unit.rows.data())];
    });
    return static_cast<std::size_t>(least - choice.rows.begin());
  }

  void free_rows(CacheUnit& unit) override {
    for (std::size_t row = unit.rows.size(); row-- > 0;) {
      if (!unit.rows[row].evicted) continue;
      const std::size_t entry = entry_of(row, unit.rows.size());
      unit.rows.erase(unit.rows.begin() + static_cast<std::ptrdiff_t>(row));
      unit.notes.erase(unit.notes.begin() + static_cast<std::ptrdiff_t>(entry));
    }
    close_gaps(unit);
  }
};

struct CountedFromTheSinks final : ScoresApart {
  std::size_t entry_of(std::size_t row, std::size_t) override {
    return row - std::min<std::size_t>(row, contract_.sinks);
  }
};

struct TheOneBefore final : ScoresApart {
  std::size_t entry_of(std::size_t row, std::size_t) override { return row > 0 ? row - 1 : 0; }
};

// What comes next inherits the victim's score, token by token: an ageing of its own kind, which
// only the policy that it names tells from a right one in most runs.
struct TheOneAfter final : ScoresApart {
  static void declare(Contract&) {}

  std::size_t entry_of(std::size_t row, std::size_t rows) override {
    return std::min(row + 1, rows - 1);
  }
};

struct TheLast final : ScoresApart {
  std::size_t entry_of(std::size_t, std::size_t rows) override { return rows - 1; }
};

}  // namespace

std::vector<Mutant> scores_apart_mutants() {
  return {
      {"score-deleted-off-by-the-sinks",
       "a victim is counted from the sinks on and its score from slot 0",
       "made, after VeloxQuant-MLX issue 141", of<CountedFromTheSinks>},
      {"score-deleted-one-before", "the score of the row before the victim is deleted", "made",
       of<TheOneBefore>},
      {"score-deleted-one-after", "the score of the row behind the victim is deleted", "made",
       of<TheOneAfter>},
      {"scores-cut-at-the-end", "a row goes from the middle, its score from the end", "made",
       of<TheLast>},
  };
}

}  // namespace kv::properties
