// Queries that see another window than the declared one.
#include "kvcheck/properties/mutants/wrong.h"

namespace kv::properties {
namespace {

using Mask = std::vector<std::uint8_t>;
using Rows = std::vector<std::size_t>;

class LazyWrong : public Wrong {
 public:
  using Wrong::Wrong;

  static PlainOptions options() { return {.timing = Timing::lazy, .slack = 4}; }
};

class WindowOfFirstQuery final : public Wrong {
  using Wrong::Wrong;

  void before_query(PlainGroup& group, Token query) override {
    if (static_cast<std::uint64_t>(query.position) == chunk_begin()) {
      Wrong::before_query(group, query);
    }
  }
};

class WindowOfLastQuery final : public Wrong {
  using Wrong::Wrong;

  void before_query(PlainGroup& group, Token) override { release(group, group.fed); }
};

class KeysCutToWindow final : public Wrong {
  using Wrong::Wrong;

  Rows returned_rows(const PlainGroup& group, std::size_t chunk) override {
    Rows rows = Wrong::returned_rows(group, chunk);
    std::erase_if(rows, [&](std::size_t row) {
      const std::int64_t position = group.rows[row].token.position;
      return !is_sink(group.rows[row]) &&
             position + contract_.recent < static_cast<std::int64_t>(group.fed);
    });
    return rows;
  }
};

class OneMoreInChunks final : public Wrong {
  using Wrong::Wrong;

  void before_query(PlainGroup& group, Token query) override {
    if (chunk_ > 1) query.position -= 1;
    Wrong::before_query(group, query);
  }
};

class DecodeSeesAll final : public LazyWrong {
  using LazyWrong::LazyWrong;

  bool may_see(const PlainGroup& group, const PlainRow& row, Token query) override {
    return chunk_ == 1 || LazyWrong::may_see(group, row, query);
  }
};

class ChunksSeeAll final : public LazyWrong {
  using LazyWrong::LazyWrong;

  bool may_see(const PlainGroup& group, const PlainRow& row, Token query) override {
    if (chunk_ > 1) return row.token.position <= query.position;
    return LazyWrong::may_see(group, row, query);
  }
};

class WindowOverCells final : public Wrong {
 public:
  using Wrong::Wrong;

  static PlainOptions options() {
    return {.timing = Timing::lazy, .slack = 3, .slots = PlainSlots::lowest_free};
  }

 private:
  bool may_see(const PlainGroup& group, const PlainRow& row, Token query) override {
    std::size_t last = 0;
    for (const PlainRow& other : group.rows) last = std::max(last, other.slot);
    const bool within = is_sink(row) || row.slot + contract_.recent > last;
    return within && row.token.position <= query.position;
  }
};

class BandOverColumns final : public Wrong {
  using Wrong::Wrong;

  Mask mask_row(const PlainGroup&,
                const Rows& returned,
                std::span<const Token> chunk,
                std::size_t query) override {
    const std::size_t own = returned.size() - chunk.size() + query;
    Mask mask;
    for (std::size_t column = 0; column < returned.size(); ++column) {
      mask.push_back(column <= own && column + contract_.budget > own ? 1 : 0);
    }
    return mask;
  }
};

class HoleBeforeRecent final : public Wrong {
 public:
  using Wrong::Wrong;

  static PlainOptions options() { return {.policy = PlainPolicy::h2o}; }

 private:
  bool may_see(const PlainGroup& group, const PlainRow& row, Token query) override {
    const auto recent = static_cast<std::int32_t>(contract_.recent);
    const bool hole = !is_sink(row) && row.token.position + recent == query.position;
    return Wrong::may_see(group, row, query) && !hole;
  }
};

class EvictedReturn final : public LazyWrong {
  using LazyWrong::LazyWrong;

  void make_room(PlainGroup& group, std::size_t) override {
    for (PlainRow& row : group.rows) row.gone = false;
  }
};

class PageAlignedDecode final : public LazyWrong {
  using LazyWrong::LazyWrong;

  bool may_see(const PlainGroup& group, const PlainRow& row, Token query) override {
    if (chunk_ > 1) return LazyWrong::may_see(group, row, query);
    const auto start = query.position + 1 - static_cast<std::int32_t>(contract_.recent);
    return is_sink(row) || row.token.position >= start / 4 * 4;
  }
};

class SinksHiddenInDecode final : public Wrong {
  using Wrong::Wrong;

  bool may_see(const PlainGroup& group, const PlainRow& row, Token query) override {
    const bool far = query.position >= static_cast<std::int32_t>(3 * contract_.budget);
    return Wrong::may_see(group, row, query) && !(far && is_sink(row));
  }
};

}  // namespace

std::vector<Mutant> window_mutants() {
  return {
      mutant<WindowOfFirstQuery>("window-of-the-first-query",
                                 "one lower bound a chunk: later queries see too much",
                                 "executorch pull request 21857"),
      mutant<WindowOfLastQuery>("window-of-the-last-query",
                                "one lower bound a chunk: earlier queries see too little",
                                "mlxcel issue 679"),
      mutant<KeysCutToWindow>("keys-cut-to-the-window",
                              "keys are cut to the last window before attention: early queries of "
                              "a chunk lose theirs",
                              "LLMs-from-scratch issue 1008; mlxcel issue 679"),
      mutant<OneMoreInChunks>("window-inclusive-in-chunks",
                              "one key more in chunks than token by token",
                              "mlx-lm issue 390; mistral-inference issue 60; transformers 39408"),
      mutant<DecodeSeesAll>("no-mask-for-one-token",
                            "the fast path for one token attends to everything stored",
                            "VeloxQuant-MLX pull request 463"),
      mutant<ChunksSeeAll>("no-lower-bound-in-chunks",
                           "the path for chunks forgets the window's lower bound",
                           "sglang pull request 31501"),
      mutant<WindowOverCells>("window-over-cells",
                              "the window is the last cells of the buffer, not the last tokens",
                              "ik_llama.cpp issue 2171"),
      mutant<BandOverColumns>("band-over-columns",
                              "the causal band slides over columns: sinks fall out in a chunk",
                              "mlx-lm RotatingKVCache with keep"),
      mutant<HoleBeforeRecent>("hole-before-the-recent",
                               "the token that just left the recent window is hidden for one query",
                               "Keyformer; H2O's mask simulation, whose next line undoes it"),
      mutant<EvictedReturn>("evicted-rows-return",
                            "what was evicted but not yet freed is visible again",
                            "made, after H2O's mask simulation"),
      mutant<PageAlignedDecode>("window-start-rounded-to-a-page",
                                "one of two paths rounds the window's start down to a page",
                                "exllamav3 issue 378"),
      mutant<SinksHiddenInDecode>("sinks-hidden-late",
                                  "far down the stream sinks are stored but masked", "made"),
  };
}

}  // namespace kv::properties
