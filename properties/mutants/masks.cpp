// Masks of the wrong width, or against the flow of time.
#include "kvcheck/properties/mutants/wrong.h"

namespace kv::properties {
namespace {

struct EvictsFirst : CausalWrong {
  void append(CacheUnit& unit, std::span<const Token> tokens) override {
    CausalWrong::append(unit, tokens);
    release(unit, unit.fed);
    free_rows(unit);
  }
};

struct EvictsFirstDeclared final : EvictsFirst {
  static TaggedOptions options() {
    return {.timing = Timing::trim_then_attend, .visibility = Visibility::causal};
  }
};

// Chunks no longer than the recent window only; where there is none, it does as it should.
struct EvictsFirstShort final : EvictsFirst {
  static TaggedOptions options() { return EvictsFirstDeclared::options(); }

  static void declare(Contract& contract) {
    contract.longest_chunk = std::max(1U, contract.recent);
  }

  void make_room(CacheUnit& unit, std::size_t chunk) override {
    if (contract_.recent == 0) EvictsFirst::make_room(unit, chunk);
  }

  void append(CacheUnit& unit, std::span<const Token> tokens) override {
    // As it should be, so not as EvictsFirst does.
    // NOLINTNEXTLINE(bugprone-parent-virtual-call)
    if (contract_.recent == 0) return Wrong::append(unit, tokens);
    EvictsFirst::append(unit, tokens);
  }
};

struct WidthOfStream final : Wrong {
  Mask mask_row(const CacheUnit& unit, const Query& query) override {
    Mask mask = Wrong::mask_row(unit, query);
    mask.resize(unit.fed);
    return mask;
  }
};

struct WidthOfBuffer final : Wrong {
  Mask mask_row(const CacheUnit& unit, const Query& query) override {
    Mask mask = Wrong::mask_row(unit, query);
    mask.resize((mask.size() + 7) / 8 * 8);
    return mask;
  }
};

struct WidthOfWindow final : Wrong {
  Mask mask_row(const CacheUnit& unit, const Query& query) override {
    Mask mask = Wrong::mask_row(unit, query);
    if (mask.size() > contract_.budget) {
      mask.erase(mask.begin(), mask.end() - static_cast<std::ptrdiff_t>(contract_.budget));
    }
    return mask;
  }
};

struct WholeChunkVisible final : Wrong {
  bool may_see(const CacheUnit& unit, const StoredRow& row, Token query) override {
    if (chunk_ > 1 && chunk_begin() > 0) return !row.evicted;
    return Wrong::may_see(unit, row, query);
  }
};

struct LogicalLengthMask final : CausalWrong {
  Mask mask_row(const CacheUnit&, const Query& query) override {
    Mask mask;
    for (std::size_t column = 0; column < query.returned.size(); ++column) {
      mask.push_back(column <= static_cast<std::size_t>(query.token.position) ? 1 : 0);
    }
    return mask;
  }
};

struct MaskBeforeEviction final : CausalWrong {
  void append(CacheUnit& unit, std::span<const Token> tokens) override {
    CausalWrong::append(unit, tokens);
    before_ = unit.rows;
    release(unit, unit.fed);
    free_rows(unit);
  }

  Mask mask_row(const CacheUnit&, const Query& query) override {
    Mask mask;
    for (std::size_t i = 0; i < query.returned.size(); ++i) {
      mask.push_back(before_[i].token.position <= query.token.position ? 1 : 0);
    }
    return mask;
  }

  std::vector<StoredRow> before_;
};

struct MaskOfTheLiveRows final : LazyWrong {
  Mask mask_row(const CacheUnit& unit, const Query& query) override {
    Mask mask;
    for (const std::size_t row : query.returned) {
      if (unit.rows[row].evicted) continue;
      mask.push_back(may_see(unit, unit.rows[row], query.token) ? 1 : 0);
    }
    mask.resize(query.returned.size());
    return mask;
  }
};

struct OwnKeyMasked final : Wrong {
  bool may_see(const CacheUnit& unit, const StoredRow& row, Token query) override {
    const bool own = row.token.position == query.position;
    return Wrong::may_see(unit, row, query) && (!own || query.position == 0);
  }
};

struct SeesOneAhead final : Wrong {
  bool may_see(const CacheUnit&, const StoredRow& row, Token query) override {
    return !row.evicted && row.token.position <= query.position + 1;
  }
};

// A cache that is only ever fed token by token, as many declare, and shows no more than what its
// contract protects.
struct HidesItsMiddle final : CausalWrong {
  // No law may lean on another cache that shows more.
  static void declare(Contract& contract) {
    contract.longest_chunk = 1;
    contract.reference.clear();
  }

  bool may_see(const CacheUnit& unit, const StoredRow& row, Token query) override {
    const auto latest = static_cast<std::int64_t>(std::max(1U, contract_.recent));
    const std::int64_t position = row.token.position;
    const bool is_protected =
        position < std::int64_t{contract_.sinks} || position + latest > query.position;
    return is_protected && CausalWrong::may_see(unit, row, query);
  }
};

}  // namespace

std::vector<Mutant> mask_mutants() {
  constexpr std::string_view port = "notes of a StreamingLLM port, bug 1; VeloxQuant-MLX issue 370";
  return {
      {"evicts-before-attention", "appends, trims, and attends to what is left", port,
       of<EvictsFirst>},
      {"evicts-before-attention-as-trim-then-attend",
       "the same, declared as making room first: in a chunk longer than the window early queries "
       "lose themselves",
       port, of<EvictsFirstDeclared>},
      {"evicts-before-attention-in-short-chunks",
       "the same, with chunks longer than the window refused", port, of<EvictsFirstShort>,
       "a chunk no longer than the recent window evicts exactly what making room evicts"},
      {"mask-width-from-stream-length", "the mask is as wide as the stream is long",
       "mlxcel issue 420; notes of a StreamingLLM port, bug 4", of<WidthOfStream>},
      {"mask-width-from-buffer", "the mask is as wide as the buffer, which grows in steps",
       "mlxcel issue 1776", of<WidthOfBuffer>},
      {"mask-width-from-window", "the mask is as wide as the window, the keys are all there",
       "mlxcel issues 412 and 413; transformers issue 48280", of<WidthOfWindow>},
      {"later-tokens-of-the-chunk-visible", "no causality in a chunk that follows others",
       "streaming-llm, its patch for Falcon", of<WholeChunkVisible>},
      {"causal-by-logical-length",
       "columns are compared with the position in the stream: after an eviction all are visible",
       "notes of a StreamingLLM port, bug 4", of<LogicalLengthMask>},
      {"mask-made-before-eviction",
       "the mask is of the rows before the trim, the keys of those after",
       "VeloxQuant-MLX issues 370 and 610", of<MaskBeforeEviction>},
      {"mask-assumes-the-cut", "the mask is of the live rows, the keys still have the dead ones",
       "mistral.rs issue 246", of<MaskOfTheLiveRows>},
      {"own-key-masked", "a query does not see itself", "made", of<OwnKeyMasked>},
      {"hides-its-middle-token-by-token",
       "takes one token at a time, and hides every row that is not protected", "made",
       of<HidesItsMiddle>},
      {"sees-one-ahead", "the diagonal is off by one", "made", of<SeesOneAhead>},
  };
}

}  // namespace kv::properties
