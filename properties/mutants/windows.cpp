// Queries that see another window than the declared one.
#include "kvcheck/properties/mutants/wrong.h"

namespace kv::properties {
namespace {

struct WindowOfFirstQuery final : Wrong {
  void before_query(CacheUnit& unit, Token query) override {
    if (static_cast<std::uint64_t>(query.position) == chunk_begin()) {
      Wrong::before_query(unit, query);
    }
  }
};

struct WindowOfLastQuery final : Wrong {
  void before_query(CacheUnit& unit, Token) override { release(unit, unit.fed); }
};

struct KeysCutToWindow final : Wrong {
  Rows returned_rows(const CacheUnit& unit, std::size_t chunk) override {
    Rows rows = Wrong::returned_rows(unit, chunk);
    std::erase_if(rows, [&](std::size_t row) {
      const std::int64_t position = unit.rows[row].token.position;
      return !is_sink(unit.rows[row]) &&
             position + contract_.recent < static_cast<std::int64_t>(unit.fed);
    });
    return rows;
  }
};

struct OneMoreInChunks final : Wrong {
  void before_query(CacheUnit& unit, Token query) override {
    if (chunk_ > 1) query.position -= 1;
    Wrong::before_query(unit, query);
  }
};

struct DecodeSeesAll final : LazyWrong {
  bool may_see(const CacheUnit& unit, const StoredRow& row, Token query) override {
    return chunk_ == 1 || LazyWrong::may_see(unit, row, query);
  }
};

struct ChunksSeeAll final : LazyWrong {
  bool may_see(const CacheUnit& unit, const StoredRow& row, Token query) override {
    if (chunk_ > 1) return row.token.position <= query.position;
    return LazyWrong::may_see(unit, row, query);
  }
};

struct WindowOverSlots final : Wrong {
  static TaggedOptions options() {
    return {.timing = Timing::lazy, .slack = 3, .slots = SlotOrder::lowest_free};
  }

  bool may_see(const CacheUnit& unit, const StoredRow& row, Token query) override {
    std::size_t last = 0;
    for (const StoredRow& other : unit.rows) last = std::max(last, other.slot);
    const bool within = is_sink(row) || row.slot + contract_.recent > last;
    return within && row.token.position <= query.position;
  }
};

struct BandOverColumns final : Wrong {
  Mask mask_row(const CacheUnit&, const Query& query) override {
    const std::size_t own = query.returned.size() - query.chunk.size() + query.index;
    Mask mask;
    for (std::size_t column = 0; column < query.returned.size(); ++column) {
      mask.push_back(column <= own && column + contract_.budget > own ? 1 : 0);
    }
    return mask;
  }
};

struct HoleBeforeRecent final : ScoredWrong {
  bool may_see(const CacheUnit& unit, const StoredRow& row, Token query) override {
    const auto recent = static_cast<std::int32_t>(contract_.recent);
    const bool hole = !is_sink(row) && row.token.position + recent == query.position;
    return ScoredWrong::may_see(unit, row, query) && !hole;
  }
};

struct EvictedRowsReturn final : LazyWrong {
  void make_room(CacheUnit& unit, std::size_t) override {
    for (StoredRow& row : unit.rows) row.evicted = false;
  }
};

struct PageAlignedDecode final : LazyWrong {
  bool may_see(const CacheUnit& unit, const StoredRow& row, Token query) override {
    if (chunk_ > 1) return LazyWrong::may_see(unit, row, query);
    const auto start = query.position + 1 - static_cast<std::int32_t>(contract_.recent);
    return is_sink(row) || row.token.position >= start / 4 * 4;
  }
};

struct SinksHiddenInDecode final : Wrong {
  bool may_see(const CacheUnit& unit, const StoredRow& row, Token query) override {
    const bool far = query.position >= static_cast<std::int32_t>(3 * contract_.budget);
    return Wrong::may_see(unit, row, query) && !(far && is_sink(row));
  }
};

}  // namespace

std::vector<Mutant> window_mutants() {
  return {
      {"window-of-the-first-query", "one lower bound a chunk: later queries see too much",
       "executorch pull request 21857", of<WindowOfFirstQuery>},
      {"window-of-the-last-query", "one lower bound a chunk: earlier queries see too little",
       "mlxcel issue 679", of<WindowOfLastQuery>},
      {"keys-cut-to-the-window",
       "keys are cut to the last window before attention: early queries of a chunk lose theirs",
       "LLMs-from-scratch issue 1008; mlxcel issue 679", of<KeysCutToWindow>},
      {"window-inclusive-in-chunks", "one key more in chunks than token by token",
       "mlx-lm issue 390; mistral-inference issue 60; transformers 39408", of<OneMoreInChunks>},
      {"no-mask-for-one-token", "the fast path for one token attends to everything stored",
       "VeloxQuant-MLX pull request 463", of<DecodeSeesAll>},
      {"no-lower-bound-in-chunks", "the path for chunks forgets the window's lower bound",
       "sglang pull request 31501", of<ChunksSeeAll>},
      {"window-over-cells", "the window is the last slots of the buffer, not the last tokens",
       "ik_llama.cpp issue 2171", of<WindowOverSlots>},
      {"band-over-columns", "the causal band slides over columns: sinks fall out in a chunk",
       "mlx-lm RotatingKVCache with keep", of<BandOverColumns>},
      {"hole-before-the-recent",
       "the token that just left the recent window is hidden for one query",
       "Keyformer; H2O's mask simulation, whose next line undoes it", of<HoleBeforeRecent>},
      {"evicted-rows-return", "what was evicted but not yet freed is visible again",
       "made, after H2O's mask simulation", of<EvictedRowsReturn>},
      {"window-start-rounded-to-a-page",
       "one of two paths rounds the window's start down to a page", "exllamav3 issue 378",
       of<PageAlignedDecode>},
      {"sinks-hidden-late", "far down the stream sinks are stored but masked", "made",
       of<SinksHiddenInDecode>},
  };
}

}  // namespace kv::properties
