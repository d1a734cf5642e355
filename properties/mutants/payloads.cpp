// Keys and values that come apart, or are harmed where they lie.
#include "kvcheck/properties/mutants/wrong.h"

namespace kv::properties {
namespace {
using Values = std::vector<std::vector<StoredVectors>>;

// Sees the rows as they were before some of them were freed.
struct AfterFreeing : Wrong {
  virtual void spoil(std::vector<StoredRow>& rows, const std::vector<StoredRow>& before) = 0;

  void free_rows(CacheUnit& unit) override {
    const std::vector<StoredRow> before = unit.rows;
    Wrong::free_rows(unit);
    if (unit.rows.size() < before.size()) spoil(unit.rows, before);
  }

  static void take_value(StoredRow& row, const StoredRow& from) {
    for (std::size_t i = 0; i < row.vectors.size(); ++i)
      row.vectors[i].value = from.vectors[i].value;
  }
};

struct ValuesFollowNeighbour final : AfterFreeing {
  void spoil(std::vector<StoredRow>& rows, const std::vector<StoredRow>& before) override {
    for (std::size_t i = contract_.sinks; i < rows.size(); ++i) {
      const auto old = std::ranges::find(before, rows[i].token, &StoredRow::token);
      if (old != before.begin() && old != before.end()) take_value(rows[i], *(old - 1));
    }
  }
};

struct ValuesLoseTheFirst final : AfterFreeing {
  void spoil(std::vector<StoredRow>& rows, const std::vector<StoredRow>& before) override {
    const std::size_t lost = before.size() - rows.size();
    for (std::size_t i = 0; i < rows.size(); ++i) take_value(rows[i], before[i + lost]);
  }
};

struct ValuesNotMoved final : AfterFreeing {
  void spoil(std::vector<StoredRow>& rows, const std::vector<StoredRow>& before) override {
    for (std::size_t i = 0; i < rows.size(); ++i) take_value(rows[i], before[i]);
  }
};

struct MovesOntoOccupied final : AfterFreeing {
  void spoil(std::vector<StoredRow>& rows, const std::vector<StoredRow>&) override {
    if (rows.size() < contract_.sinks + 2) return;
    rows[contract_.sinks].vectors = rows[contract_.sinks + 1].vectors;
  }
};

struct MergesValues final : AfterFreeing {
  void spoil(std::vector<StoredRow>& rows, const std::vector<StoredRow>& before) override {
    if (rows.size() <= contract_.sinks || before.size() <= contract_.sinks) return;
    StoredRow& row = rows[contract_.sinks];
    for (std::size_t i = 0; i < row.vectors.size(); ++i) {
      for (std::size_t x = 0; x < value_size; ++x) {
        row.vectors[i].value[x] =
            (row.vectors[i].value[x] + before[contract_.sinks].vectors[i].value[x]) / 2;
      }
    }
  }
};

struct FirstLayerEverywhere final : ReservoirWrong {
  void after_chunk(CacheUnit& unit) override {
    ReservoirWrong::after_chunk(unit);
    if (layer_of(unit) == 0) return;
    const std::size_t per_layer = setup_.kv_heads;
    const CacheUnit& first = state_.units[index_of(unit) - layer_of(unit) * per_layer];
    for (std::size_t i = contract_.sinks; i + contract_.recent < unit.rows.size(); ++i) {
      if (i < first.rows.size()) unit.rows[i].vectors = first.rows[i].vectors;
    }
  }
};

struct MixedPrecision : Wrong {
  static TaggedOptions options() {
    return {.precision = Precision::int8, .full_precision_recent = 2};
  }

  void quantise(StoredRow& row) {
    for (StoredVectors& vectors : row.vectors) lower(vectors);
  }
};

struct QuantisesTheRecent final : MixedPrecision {
  void lower_precision(CacheUnit& unit) override {
    if (unit.fed % 4 != 0) return MixedPrecision::lower_precision(unit);
    for (StoredRow& row : unit.rows) quantise(row);
  }
};

struct CoarserThanDeclared final : MixedPrecision {
  static TaggedOptions options() { return {.precision = Precision::f16}; }

  StoredVectors make_vectors(Token token, std::size_t unit, double position) override {
    StoredVectors vectors = MixedPrecision::make_vectors(token, unit, position);
    store_as(vectors.key, Precision::int8);
    return vectors;
  }
};

struct OverwritesHiddenKeys final : LazyWrong {
  void before_query(CacheUnit& unit, Token query) override {
    LazyWrong::before_query(unit, query);
    for (StoredRow& row : unit.rows) {
      if (!row.evicted) continue;
      for (StoredVectors& vectors : row.vectors) vectors.key.fill(-1e4F);
    }
  }
};

struct PadsAreRows final : Wrong {
  void append(CacheUnit& unit, std::span<const Token> tokens) override {
    Wrong::append(unit, tokens);
    if (tokens.size() % 2 == 0) return;
    StoredRow pad = unit.rows.back();
    pad.slot = unit.rows.size();
    for (StoredVectors& vectors : pad.vectors) vectors = {};
    unit.rows.push_back(pad);
  }
};

struct RotatesValues final : Wrong {
  StoredVectors make_vectors(Token token, std::size_t unit, double position) override {
    StoredVectors vectors = Wrong::make_vectors(token, unit, position);
    // clang 14, and so lint, cannot read what std::ranges::rotate returns.
    if (position > 4)
      std::rotate(vectors.value.begin(), vectors.value.begin() + 1, vectors.value.end());
    return vectors;
  }
};

}  // namespace

std::vector<Mutant> payload_mutants() {
  return {
      {"values-cut-one-row-early", "keys and values are gathered with different indices", "made",
       of<ValuesFollowNeighbour>},
      {"values-lose-the-first-rows", "values are cut along another axis than keys",
       "streaming-llm for MPT; H2O evict_for_space", of<ValuesLoseTheFirst>},
      {"compaction-leaves-values", "closing a gap moves keys and not values", "llama.cpp 14189",
       of<ValuesNotMoved>},
      {"compaction-onto-a-live-row", "closing a gap writes over a row that is alive",
       "llama.cpp issue 12253", of<MovesOntoOccupied>},
      {"merged-values", "the evicted value is averaged into its neighbour, undeclared",
       "CAM; kvpress issue 221", of<MergesValues>},
      {"first-layer-rows-in-all-layers", "the sampled rows of layer 0 are put into every layer",
       "Pan et al., reservoir sampling for StreamingLLM, figure 3", of<FirstLayerEverywhere>},
      {"recent-rows-are-quantised", "a flush quantises all rows, those declared exact among them",
       "transformers issue 34189", of<QuantisesTheRecent>},
      {"coarser-than-declared", "stored in int8, declared as f16", "made", of<CoarserThanDeclared>},
      {"hidden-keys-are-overwritten", "rows that are masked get fake keys while they are stored",
       "kvpress, masking by head", of<OverwritesHiddenKeys>},
      {"padding-is-stored", "odd chunks are padded and the padding remains stored, visible",
       "H2O FlexGen; tt-metal pull request 49614", of<PadsAreRows>},
      {"values-turned-too", "values go through the keys' rotation", "made", of<RotatesValues>},
  };
}

}  // namespace kv::properties
