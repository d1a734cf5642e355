// Right for the first tokens, rows or calls, and wrong from some number on.
#include "kvcheck/properties/mutants/wrong.h"

namespace kv::properties {
namespace {

struct PositionOfEightBits final : Wrong {
  double append_position(const CacheUnit&, Token token) override {
    return static_cast<std::uint8_t>(token.position);
  }
};

struct PositionStopsAtTheTrained final : Wrong {
  double append_position(const CacheUnit&, Token token) override {
    return std::min(token.position, 999);
  }
};

struct ForgetsSinks final : Wrong {
  void after_chunk(CacheUnit& unit) override {
    Wrong::after_chunk(unit);
    if (unit.fed <= 100) return;
    drop(unit, [this](const StoredRow& row) { return is_sink(row); });
  }
};

struct AgeOfEightBits final : Wrong {
  bool may_see(const CacheUnit& unit, const StoredRow& row, Token query) override {
    const auto age = static_cast<std::int8_t>(query.position - row.token.position);
    return age >= 0 && Wrong::may_see(unit, row, query);
  }
};

struct MaskOf64Columns final : Wrong {
  Mask mask_row(const CacheUnit& unit, const Query& query) override {
    Mask mask = Wrong::mask_row(unit, query);
    for (std::size_t column = 64; column < mask.size(); ++column) mask[column] = 0;
    return mask;
  }
};

struct LaterTilesForgetThePast final : Wrong {
  Mask mask_row(const CacheUnit& unit, const Query& query) override {
    Mask mask = Wrong::mask_row(unit, query);
    constexpr std::size_t tile = 128;
    for (std::size_t column = 0; column < mask.size() && query.index >= tile; ++column) {
      const Token token = unit.rows[query.returned[column]].token;
      if (token.position < query.chunk.front().position) mask[column] = 0;
    }
    return mask;
  }

  static TaggedOptions options() { return {.visibility = Visibility::causal}; }
};

struct RingIndexOfEightBits final : RingWrong {
  std::size_t slot_for(CacheUnit& unit, Token token) override {
    const auto position = static_cast<std::size_t>(token.position);
    if (position < contract_.sinks) return position;
    return write_at(unit, static_cast<std::uint8_t>(position - contract_.sinks));
  }
};

struct CallsOfEightBits final : Wrong {
  // A call that is counted as the first one finds no past.
  void append(CacheUnit& unit, std::span<const Token> tokens) override {
    unit.notes.resize(1);
    if (static_cast<int>(unit.notes[0]++) % 256 == 0) unit.rows.clear();
    Wrong::append(unit, tokens);
  }
};

// A reservoir whose count is what it holds.
struct CountsPhysical final : ReservoirWrong {
  std::size_t victim(CacheUnit& unit, const Choice& choice, Draws& draws) override {
    Choice counted = choice;
    counted.entered = choice.capacity + 1;
    return ReservoirWrong::victim(unit, counted, draws);
  }
};

struct DrawReaches32 final : Wrong {
  static TaggedOptions options() { return {.policy = "random"}; }

  static void declare(Contract&) {}

  std::size_t victim(CacheUnit& unit, const Choice& choice, Draws& draws) override {
    Choice reached = choice;
    reached.capacity = std::min<std::size_t>(choice.capacity, 32);
    return Wrong::victim(unit, reached, draws);
  }
};

}  // namespace

std::vector<Mutant> length_mutants() {
  return {
      {"position-of-eight-bits", "positions begin again at 256", "made", of<PositionOfEightBits>},
      {"position-stops-at-the-trained-length", "from token 1000 on all keys stand at position 999",
       "made, after position tables of a fixed length", of<PositionStopsAtTheTrained>},
      {"forgets-sinks-after-100-tokens", "the sinks go once 100 tokens were fed", "made",
       of<ForgetsSinks>},
      {"age-of-eight-bits", "a row that is 128 tokens old passes for one of the future", "made",
       of<AgeOfEightBits>},
      {"mask-of-64-columns", "a row of the mask is a word of 64 bits", "made", of<MaskOf64Columns>},
      {"later-tiles-forget-the-past",
       "in chunks of more than 128 tokens the second tile of queries sees only the chunk",
       "made, after tiled kernels", of<LaterTilesForgetThePast>},
      {"ring-index-of-eight-bits", "the ring jumps where its counter of eight bits overflows",
       "made", of<RingIndexOfEightBits>},
      {"calls-counted-in-eight-bits", "call 257 is taken for the first one and finds no past",
       "made", of<CallsOfEightBits>},
      {"physical-length-as-count", "enters with k/(k+1)",
       "Pan et al., reservoir sampling for StreamingLLM, figure 2", of<CountsPhysical>},
      {"draw-reaches-32-slots", "only the first 32 rows of the middle can be drawn to go",
       "made, after a warp's width", of<DrawReaches32>},
  };
}

}  // namespace kv::properties
