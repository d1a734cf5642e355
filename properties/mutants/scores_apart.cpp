// Scores that lie in a list of their own, beside the rows, and lose the wrong entry when a row
// goes.
#include <numeric>

#include "kvcheck/properties/mutants/wrong.h"

namespace kv::properties {
namespace {

using Rows = std::vector<std::size_t>;

class ScoresApart : public Wrong {
 public:
  using Wrong::Wrong;

  static PlainOptions options() {
    return {.policy = PlainPolicy::h2o, .visibility = Visibility::causal};
  }

 protected:
  // The entry that goes with row `row` of `rows`.
  virtual std::size_t entry_of(std::size_t row, std::size_t rows) = 0;

  void append(PlainGroup& group, std::span<const Token> tokens) override {
    Wrong::append(group, tokens);
    group.notes.resize(group.rows.size());
  }

  void observe(PlainGroup& group, const Rows& visible, std::span<const float> mass) override {
    for (std::size_t i = 0; i < visible.size(); ++i) {
      group.notes[visible[i]] += static_cast<double>(mass[i]);
    }
  }

  std::size_t victim(PlainGroup& group, const Rows& candidates, std::size_t, Draws&) override {
    const auto least =
        std::ranges::min_element(candidates, {}, [&](std::size_t row) { return group.notes[row]; });
    return static_cast<std::size_t>(least - candidates.begin());
  }

  void free_rows(PlainGroup& group) override {
    for (std::size_t row = group.rows.size(); row-- > 0;) {
      if (!group.rows[row].gone) continue;
      const std::size_t entry = entry_of(row, group.rows.size());
      group.rows.erase(group.rows.begin() + static_cast<std::ptrdiff_t>(row));
      group.notes.erase(group.notes.begin() + static_cast<std::ptrdiff_t>(entry));
    }
    close_gaps(group);
  }
};

class CountedFromTheSinks final : public ScoresApart {
  using ScoresApart::ScoresApart;

  std::size_t entry_of(std::size_t row, std::size_t) override {
    return row - std::min<std::size_t>(row, contract_.sinks);
  }
};

class TheOneBefore final : public ScoresApart {
  using ScoresApart::ScoresApart;

  std::size_t entry_of(std::size_t row, std::size_t) override { return row > 0 ? row - 1 : 0; }
};

// What comes next inherits the victim's score, token by token: an ageing of its own kind, which
// only the policy that it names tells from a right one in most runs.
class TheOneAfter final : public ScoresApart {
 public:
  using ScoresApart::ScoresApart;

  static void declare(Contract&) {}

 private:
  std::size_t entry_of(std::size_t row, std::size_t rows) override {
    return std::min(row + 1, rows - 1);
  }
};

class TheLast final : public ScoresApart {
  using ScoresApart::ScoresApart;

  std::size_t entry_of(std::size_t, std::size_t rows) override { return rows - 1; }
};

}  // namespace

std::vector<Mutant> scores_apart_mutants() {
  return {
      mutant<CountedFromTheSinks>("score-deleted-off-by-the-sinks",
                                  "a victim is counted from the sinks on and its score from slot 0",
                                  "made, after VeloxQuant-MLX issue 141"),
      mutant<TheOneBefore>("score-deleted-one-before",
                           "the score of the row before the victim is deleted", "made"),
      mutant<TheOneAfter>("score-deleted-one-after",
                          "the score of the row behind the victim is deleted", "made"),
      mutant<TheLast>("scores-cut-at-the-end", "a row goes from the middle, its score from the end",
                      "made"),
  };
}

}  // namespace kv::properties
