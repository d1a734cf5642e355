// Right for the first tokens, rows or calls, and wrong from some number on.
#include "kvcheck/properties/mutants/wrong.h"

namespace kv::properties {
namespace {

class PositionOfEightBits final : public Wrong {
  using Wrong::Wrong;

  double append_position(const PlainGroup&, Token token) override {
    return static_cast<std::uint8_t>(token.position);
  }
};

class PositionStopsAtTheTrained final : public Wrong {
  using Wrong::Wrong;

  double append_position(const PlainGroup&, Token token) override {
    return std::min(token.position, 999);
  }
};

class ForgetsSinks final : public Wrong {
  using Wrong::Wrong;

  void after_chunk(PlainGroup& group) override {
    Wrong::after_chunk(group);
    if (group.fed <= 100) return;
    drop(group, [this](const PlainRow& row) { return is_sink(row); });
  }
};

class AgeOfEightBits final : public Wrong {
  using Wrong::Wrong;

  bool may_see(const PlainGroup& group, const PlainRow& row, Token query) override {
    const auto age = static_cast<std::int8_t>(query.position - row.token.position);
    return age >= 0 && Wrong::may_see(group, row, query);
  }
};

class MaskOf64Columns final : public Wrong {
  using Wrong::Wrong;

  std::vector<std::uint8_t> mask_row(const PlainGroup& group,
                                     const std::vector<std::size_t>& returned,
                                     std::span<const Token> chunk,
                                     std::size_t query) override {
    std::vector<std::uint8_t> mask = Wrong::mask_row(group, returned, chunk, query);
    for (std::size_t column = 64; column < mask.size(); ++column) mask[column] = 0;
    return mask;
  }
};

class LaterTilesForgetThePast final : public Wrong {
  using Wrong::Wrong;

  std::vector<std::uint8_t> mask_row(const PlainGroup& group,
                                     const std::vector<std::size_t>& returned,
                                     std::span<const Token> chunk,
                                     std::size_t query) override {
    std::vector<std::uint8_t> mask = Wrong::mask_row(group, returned, chunk, query);
    constexpr std::size_t tile = 128;
    for (std::size_t column = 0; column < mask.size() && query >= tile; ++column) {
      const Token token = group.rows[returned[column]].token;
      if (token.position < chunk.front().position) mask[column] = 0;
    }
    return mask;
  }

 public:
  static PlainOptions options() { return {.visibility = Visibility::causal}; }
};

class RingIndexOfEightBits final : public Wrong {
 public:
  using Wrong::Wrong;

  static PlainOptions options() {
    return {.timing = Timing::lazy, .slack = 3, .slots = PlainSlots::ring, .longest_chunk = 4};
  }

 private:
  std::size_t slot_for(PlainGroup& group, Token token) override {
    const auto position = static_cast<std::size_t>(token.position);
    if (position < contract_.sinks) return position;
    const auto counted = static_cast<std::uint8_t>(position - contract_.sinks);
    const std::size_t ring = contract_.budget + contract_.slack - contract_.sinks;
    const std::size_t slot = contract_.sinks + counted % ring;
    std::erase_if(group.rows, [slot](const PlainRow& row) { return row.slot == slot; });
    return slot;
  }
};

class CallsOfEightBits final : public Wrong {
  using Wrong::Wrong;

  // A call that is counted as the first one finds no past.
  void append(PlainGroup& group, std::span<const Token> tokens) override {
    group.notes.resize(1);
    if (static_cast<int>(group.notes[0]++) % 256 == 0) group.rows.clear();
    Wrong::append(group, tokens);
  }
};

class DrawReaches32 final : public Wrong {
 public:
  using Wrong::Wrong;

  static PlainOptions options() { return {.policy = PlainPolicy::random}; }

  static void declare(Contract&) {}

 private:
  std::size_t victim(PlainGroup& group,
                     const std::vector<std::size_t>& candidates,
                     std::size_t k,
                     Draws& draws) override {
    return Wrong::victim(group, candidates, std::min<std::size_t>(k, 32), draws);
  }
};

}  // namespace

std::vector<Mutant> length_mutants() {
  return {
      mutant<PositionOfEightBits>("position-of-eight-bits", "positions begin again at 256", "made"),
      mutant<PositionStopsAtTheTrained>("position-stops-at-the-trained-length",
                                        "from token 1000 on all keys stand at position 999",
                                        "made, after position tables of a fixed length"),
      mutant<ForgetsSinks>("forgets-sinks-after-100-tokens",
                           "the sinks go once 100 tokens were fed", "made"),
      mutant<AgeOfEightBits>("age-of-eight-bits",
                             "a row that is 128 tokens old passes for one of the future", "made"),
      mutant<MaskOf64Columns>("mask-of-64-columns", "a row of the mask is a word of 64 bits",
                              "made"),
      mutant<LaterTilesForgetThePast>("later-tiles-forget-the-past",
                                      "in chunks of more than 128 tokens the second tile of "
                                      "queries sees only the chunk",
                                      "made, after tiled kernels"),
      mutant<RingIndexOfEightBits>("ring-index-of-eight-bits",
                                   "the ring jumps where its counter of eight bits overflows",
                                   "made"),
      mutant<CallsOfEightBits>("calls-counted-in-eight-bits",
                               "call 257 is taken for the first one and finds no past", "made"),
      mutant<DrawReaches32>("draw-reaches-32-slots",
                            "only the first 32 rows of the middle can be drawn to go",
                            "made, after a warp's width"),
  };
}

}  // namespace kv::properties
