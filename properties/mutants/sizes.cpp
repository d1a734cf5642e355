// Caches that hold too much, too little, or say otherwise.
#include "kvcheck/properties/mutants/wrong.h"

namespace kv::properties {
namespace {

struct NeverEvicts final : Wrong {
  void after_chunk(CacheUnit&) override {}

  std::uint64_t reported(const CacheUnit& unit) override {
    return std::min<std::uint64_t>(unit.rows.size(), contract_.budget);
  }
};

struct BudgetPerChunk final : CausalWrong {
  void after_chunk(CacheUnit& unit) override {
    if (chunk_ <= contract_.budget) return;
    drop(unit, [&](const StoredRow& row) {
      const auto index = row.token.position - static_cast<std::int64_t>(chunk_begin());
      return index >= contract_.sinks && index + contract_.recent < static_cast<long>(chunk_);
    });
  }
};

struct TrimsOneLate final : CausalWrong {
  void after_chunk(CacheUnit& unit) override {
    release(unit, unit.fed - 1);
    free_rows(unit);
  }
};

struct TrimsOneMore final : CausalWrong {
  void after_chunk(CacheUnit& unit) override {
    if (unit.fed > contract_.budget) release(unit, unit.fed + 1);
    free_rows(unit);
  }
};

struct SkipsFirstDecode final : CausalWrong {
  void after_chunk(CacheUnit& unit) override {
    const bool first = chunk_ == 1 && unit.notes.empty();
    if (chunk_ == 1) unit.notes = {1};
    if (!first) CausalWrong::after_chunk(unit);
  }
};

struct DropsByAllocation final : CausalWrong {
  void after_chunk(CacheUnit& unit) override {
    const std::size_t allocated = (unit.rows.size() + 3) / 4 * 4;
    std::size_t excess = allocated - std::min<std::size_t>(allocated, contract_.budget);
    if (unit.rows.size() <= contract_.budget) excess = 0;
    drop(unit, [&](const StoredRow& row) { return !is_sink(row) && excess > 0 && excess-- > 0; });
  }
};

struct CompressesOnce final : CausalWrong {
  void after_chunk(CacheUnit& unit) override {
    if (chunk_begin() == 0) CausalWrong::after_chunk(unit);
  }
};

struct ShortInputKeepsNone final : CausalWrong {
  void after_chunk(CacheUnit& unit) override {
    CausalWrong::after_chunk(unit);
    if (unit.rows.size() == 1) unit.rows.clear();  // int(1 * 0.5)
  }
};

struct ReportsTokensSeen final : Wrong {
  std::uint64_t reported(const CacheUnit& unit) override { return unit.fed; }
};

struct NoVictimGrows final : ScoredWrong {
  void release(CacheUnit& unit, std::uint64_t end) override {
    if (capacity() > 0) Wrong::release(unit, end);
  }
};

struct MinusZeroMeansAll final : CausalScoredWrong {
  void release(CacheUnit& unit, std::uint64_t end) override {
    if (contract_.recent > 0) CausalScoredWrong::release(unit, end);
  }
};

struct KeepsWhateverScores final : CausalScoredWrong {
  void settle(CacheUnit&) override {}
};

struct RoundsToBlocks final : CausalWrong {
  void after_chunk(CacheUnit& unit) override {
    CausalWrong::after_chunk(unit);
    const auto kept = std::int64_t{contract_.recent / 2} * 2;
    if (unit.fed <= contract_.budget) return;
    drop(unit, [&](const StoredRow& row) {
      return !is_sink(row) && row.token.position + kept < static_cast<std::int64_t>(unit.fed);
    });
  }
};

struct LazyNeverDrained final : Wrong {
  static TaggedOptions options() {
    return {.timing = Timing::lazy, .slack = 4, .visibility = Visibility::causal};
  }

  void after_chunk(CacheUnit& unit) override {
    if (chunk_ > contract_.budget + contract_.slack) Wrong::after_chunk(unit);
  }
};

struct SampleOneShort final : ReservoirWrong {
  std::size_t victim(CacheUnit& unit, const Choice& choice, Draws& draws) override {
    if (choice.capacity > 1 && choice.rows.size() == choice.capacity + 1)
      choice.rows.front()->evicted = true;
    const std::size_t selected = ReservoirWrong::victim(unit, choice, draws);
    return selected == 0 ? choice.capacity : selected;
  }
};

struct CopiesEveryCall final : Wrong {
  static TaggedOptions options() { return {.timing = Timing::lazy, .slack = 8}; }

  void after_chunk(CacheUnit& unit) override {
    Wrong::after_chunk(unit);
    unit.moved += unit.rows.size();
  }
};

}  // namespace

std::vector<Mutant> size_mutants() {
  return {
      {"never-evicts-reports-the-budget", "nothing is ever freed, while the length says the budget",
       "VeloxQuant-MLX issue 274", of<NeverEvicts>},
      {"budget-per-chunk",
       "each chunk is cut to the budget alone, sinks anchored at its own first token, and appended",
       "VeloxQuant-MLX issue 84, pull request 91", of<BudgetPerChunk>},
      {"trims-one-late", "one token over the budget is kept", "made", of<TrimsOneLate>},
      {"trims-one-more", "one recent token too many is evicted", "made", of<TrimsOneMore>},
      {"first-decode-is-not-trimmed", "the first one-token call frees nothing",
       "vLLM pull request 34568", of<SkipsFirstDecode>},
      {"drops-by-allocated-width", "evictions are counted from the allocated width, rounded up",
       "mlx-vlm issue 2031, mlx-lm issue 1673", of<DropsByAllocation>},
      {"compresses-at-prefill-only",
       "only the first call is trimmed; then the cache grows for ever",
       "KVCache-Factory and kvpress defaults, kvpress issue 55", of<CompressesOnce>},
      {"short-input-keeps-none", "a share of one token is rounded down to none",
       "kvpress pull request 264", of<ShortInputKeepsNone>},
      {"reports-tokens-seen", "the length is that of the stream, not of what is stored",
       "notes of a StreamingLLM port, bug 4", of<ReportsTokensSeen>},
      {"no-victim-so-it-grows",
       "when everything is protected no token is evicted and the cache grows",
       "FlexKV pull request 271; VeloxQuant-MLX", of<NoVictimGrows>},
      {"minus-zero-means-all", "with recent=0 the slice [-0:] protects every token",
       "transformers SinkCache; H2O with recent=0", of<MinusZeroMeansAll>},
      {"keeps-whatever-scores", "the threshold that marks victims is passed by every score",
       "LOOK-M issue 4", of<KeepsWhateverScores>},
      {"remainder-is-dropped", "the tokens between the last whole block and the window are lost",
       "notes of a StreamingLLM port, semantic blocks", of<RoundsToBlocks>},
      {"lazy-buffer-is-never-drained",
       "the chunk, not the store, is compared with budget and slack", "made", of<LazyNeverDrained>},
      {"sample-one-short", "a full middle holds one token less", "opentelemetry-python issue 5462",
       of<SampleOneShort>},
      {"copies-everything-every-call",
       "a lazy cache copies all its rows in every call all the same",
       "notes of a StreamingLLM port, bug 3", of<CopiesEveryCall>},
  };
}

}  // namespace kv::properties
