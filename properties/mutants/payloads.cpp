// Keys and values that come apart, or are harmed where they lie.
#include "kvcheck/properties/mutants/wrong.h"

namespace kv::properties {
namespace {

using Values = std::vector<std::vector<PlainCell>>;

// Sees the rows as they were before some of them were freed.
class AfterFreeing : public Wrong {
 public:
  using Wrong::Wrong;

 protected:
  virtual void spoil(std::vector<PlainRow>& rows, const std::vector<PlainRow>& before) = 0;

  void free_rows(PlainGroup& group) override {
    const std::vector<PlainRow> before = group.rows;
    Wrong::free_rows(group);
    if (group.rows.size() < before.size()) spoil(group.rows, before);
  }

  static void take_value(PlainRow& row, const PlainRow& from) {
    for (std::size_t i = 0; i < row.cells.size(); ++i) row.cells[i].value = from.cells[i].value;
  }
};

class ValuesFollowNeighbour final : public AfterFreeing {
  using AfterFreeing::AfterFreeing;

  void spoil(std::vector<PlainRow>& rows, const std::vector<PlainRow>& before) override {
    for (std::size_t i = contract_.sinks; i < rows.size(); ++i) {
      const auto old = std::ranges::find(before, rows[i].token, &PlainRow::token);
      if (old != before.begin() && old != before.end()) take_value(rows[i], *(old - 1));
    }
  }
};

class ValuesLoseTheFirst final : public AfterFreeing {
  using AfterFreeing::AfterFreeing;

  void spoil(std::vector<PlainRow>& rows, const std::vector<PlainRow>& before) override {
    const std::size_t lost = before.size() - rows.size();
    for (std::size_t i = 0; i < rows.size(); ++i) take_value(rows[i], before[i + lost]);
  }
};

class ValuesStayBehind final : public AfterFreeing {
  using AfterFreeing::AfterFreeing;

  void spoil(std::vector<PlainRow>& rows, const std::vector<PlainRow>& before) override {
    for (std::size_t i = 0; i < rows.size(); ++i) take_value(rows[i], before[i]);
  }
};

class MovesOntoOccupied final : public AfterFreeing {
  using AfterFreeing::AfterFreeing;

  void spoil(std::vector<PlainRow>& rows, const std::vector<PlainRow>&) override {
    if (rows.size() < contract_.sinks + 2) return;
    rows[contract_.sinks].cells = rows[contract_.sinks + 1].cells;
  }
};

class MergesValues final : public AfterFreeing {
  using AfterFreeing::AfterFreeing;

  void spoil(std::vector<PlainRow>& rows, const std::vector<PlainRow>& before) override {
    if (rows.size() <= contract_.sinks || before.size() <= contract_.sinks) return;
    PlainRow& row = rows[contract_.sinks];
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      for (std::size_t x = 0; x < value_size; ++x) {
        row.cells[i].value[x] =
            (row.cells[i].value[x] + before[contract_.sinks].cells[i].value[x]) / 2;
      }
    }
  }
};

class FirstLayerEverywhere final : public Wrong {
 public:
  using Wrong::Wrong;

  static PlainOptions options() { return {.policy = PlainPolicy::reservoir_r}; }

 private:
  void after_chunk(PlainGroup& group) override {
    Wrong::after_chunk(group);
    if (layer_of(group) == 0) return;
    const std::size_t per_layer = setup_.kv_heads;
    const PlainGroup& first = state_.groups[index_of(group) - layer_of(group) * per_layer];
    for (std::size_t i = contract_.sinks; i + contract_.recent < group.rows.size(); ++i) {
      if (i < first.rows.size()) group.rows[i].cells = first.rows[i].cells;
    }
  }
};

class MixedPrecision : public Wrong {
 public:
  using Wrong::Wrong;

  static PlainOptions options() {
    return {.precision = Precision::int8, .full_precision_recent = 2};
  }

 protected:
  void quantise(PlainRow& row) {
    for (PlainCell& cell : row.cells) lower(cell);
  }
};

class QuantisesTheRecent final : public MixedPrecision {
  using MixedPrecision::MixedPrecision;

  void lower_precision(PlainGroup& group) override {
    if (group.fed % 4 != 0) return MixedPrecision::lower_precision(group);
    for (PlainRow& row : group.rows) quantise(row);
  }
};

class CoarserThanDeclared final : public MixedPrecision {
 public:
  using MixedPrecision::MixedPrecision;

  static PlainOptions options() { return {.precision = Precision::f16}; }

 private:
  PlainCell make_cell(Token token, std::size_t unit, double position) override {
    PlainCell cell = MixedPrecision::make_cell(token, unit, position);
    store_as(cell.key, Precision::int8);
    return cell;
  }
};

class OverwritesHiddenKeys final : public Wrong {
 public:
  using Wrong::Wrong;

  static PlainOptions options() { return {.timing = Timing::lazy, .slack = 4}; }

 private:
  void before_query(PlainGroup& group, Token query) override {
    Wrong::before_query(group, query);
    for (PlainRow& row : group.rows) {
      if (!row.gone) continue;
      for (PlainCell& cell : row.cells) cell.key.fill(-1e4F);
    }
  }
};

class PadsAreRows final : public Wrong {
  using Wrong::Wrong;

  void append(PlainGroup& group, std::span<const Token> tokens) override {
    Wrong::append(group, tokens);
    if (tokens.size() % 2 == 0) return;
    PlainRow pad = group.rows.back();
    pad.slot = group.rows.size();
    for (PlainCell& cell : pad.cells) cell = {};
    group.rows.push_back(pad);
  }
};

class RotatesValues final : public Wrong {
  using Wrong::Wrong;

  PlainCell make_cell(Token token, std::size_t unit, double position) override {
    PlainCell cell = Wrong::make_cell(token, unit, position);
    // clang 14, and so lint, cannot read what std::ranges::rotate returns.
    if (position > 4) std::rotate(cell.value.begin(), cell.value.begin() + 1, cell.value.end());
    return cell;
  }
};

}  // namespace

std::vector<Mutant> payload_mutants() {
  return {
      mutant<ValuesFollowNeighbour>("values-cut-one-row-early",
                                    "keys and values are gathered with different indices", "made"),
      mutant<ValuesLoseTheFirst>("values-lose-the-first-rows",
                                 "values are cut along another axis than keys",
                                 "streaming-llm for MPT; H2O evict_for_space"),
      mutant<ValuesStayBehind>("compaction-leaves-values",
                               "closing a gap moves keys and not values", "llama.cpp 14189"),
      mutant<MovesOntoOccupied>("compaction-onto-a-live-row",
                                "closing a gap writes over a row that is alive",
                                "llama.cpp issue 12253"),
      mutant<MergesValues>("merged-values",
                           "the evicted value is averaged into its neighbour, undeclared",
                           "CAM; kvpress issue 221"),
      mutant<FirstLayerEverywhere>("first-layer-rows-in-all-layers",
                                   "the sampled rows of layer 0 are put into every layer",
                                   "Pan et al., reservoir sampling for StreamingLLM, figure 3"),
      mutant<QuantisesTheRecent>("recent-rows-are-quantised",
                                 "a flush quantises all rows, those declared exact among them",
                                 "transformers issue 34189"),
      mutant<CoarserThanDeclared>("coarser-than-declared", "stored in int8, declared as f16",
                                  "made"),
      mutant<OverwritesHiddenKeys>("hidden-keys-are-overwritten",
                                   "rows that are masked get fake keys while they are stored",
                                   "kvpress, masking by head"),
      mutant<PadsAreRows>("padding-is-stored",
                          "odd chunks are padded and the padding stays, visible",
                          "H2O FlexGen; tt-metal pull request 49614"),
      mutant<RotatesValues>("values-turned-too", "values go through the keys' rotation", "made"),
  };
}

}  // namespace kv::properties
