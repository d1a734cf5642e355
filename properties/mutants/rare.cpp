// Right but in one circumstance: after the second wrap, in one head of one layer, after a reset, at
// one size of chunk.
#include <utility>

#include "kvcheck/properties/mutants/wrong.h"

namespace kv::properties {
namespace {

struct SecondWrapOneOff final : RingWrong {
  std::size_t slot_for(CacheUnit& unit, Token token) override {
    const auto position = static_cast<std::size_t>(token.position);
    if (position < contract_.sinks) return position;
    const std::size_t at = position - contract_.sinks;
    return write_at(unit, at / ring() == 2 ? at + 1 : at);
  }
};

struct RestoredMidWrap final : RingWrong {
  Answer<Done> restore(std::span<const std::uint8_t> bytes) override {
    auto answer = RingWrong::restore(bytes);
    restored_ = state_.fed;
    return answer;
  }

  // The place to write at is not saved: after a restore it is that of a full ring's begin.
  std::size_t slot_for(CacheUnit& unit, Token token) override {
    const auto position = static_cast<std::size_t>(token.position);
    if (position < contract_.sinks || restored_ < contract_.sinks + ring()) {
      return RingWrong::slot_for(unit, token);
    }
    return write_at(unit, position - restored_);
  }

  std::uint64_t restored_ = 0;
};

struct ChunkOfTheBudget final : Wrong {
  // A chunk that fills the cache replaces it, sinks and all.
  void append(CacheUnit& unit, std::span<const Token> tokens) override {
    if (tokens.size() == contract_.budget && tokens.size() > 1) unit.rows.clear();
    Wrong::append(unit, tokens);
  }
};

struct OneHeadOfOneLayer final : CausalWrong {
  void after_chunk(CacheUnit& unit) override {
    CausalWrong::after_chunk(unit);
    const Place place = place_of(unit);
    const bool here = place.layer == 1 && place.head == 1 && place.sequence == 0;
    if (!here || unit.rows.size() < 2 || unit.rows.size() < contract_.budget) return;
    unit.rows.erase(unit.rows.begin() + contract_.sinks);
    close_gaps(unit);
  }
};

struct TrimsLateAfterReset final : Wrong {
  Answer<Done> reset() override {
    auto answer = Wrong::reset();
    for (CacheUnit& unit : state_.units) unit.notes = {1};
    return answer;
  }

  void after_chunk(CacheUnit& unit) override {
    if (!unit.notes.empty() && unit.rows.size() == contract_.budget + 1) return;
    Wrong::after_chunk(unit);
  }
};

struct CountOfEightBits final : ReservoirWrong {
  static void declare(Contract&) {}

  std::size_t victim(CacheUnit& unit, const Choice& choice, Draws& draws) override {
    Choice counted = choice;
    counted.entered = std::max<std::uint64_t>(choice.capacity + 1, choice.entered % 256);
    return ReservoirWrong::victim(unit, counted, draws);
  }
};

struct TieOrderFollowsTheChunk final : Wrong {
  static TaggedOptions options() { return {.policy = "tova", .visibility = Visibility::causal}; }

  static void declare(Contract&) {}

  std::size_t victim(CacheUnit& unit, const Choice& choice, Draws& draws) override {
    const std::size_t first = Wrong::victim(unit, choice, draws);
    std::size_t last = first;
    for (std::size_t i = first; i < choice.rows.size() && chunk_ > 1; ++i) {
      const bool tie = choice.rows[i]->last == choice.rows[first]->last;
      last = tie ? i : last;
    }
    return last;
  }
};

struct RollbackToTheBoundary final : Wrong {
  static TaggedOptions options() { return {.rollback = any_depth}; }

  // A length at which a call began is taken for one inside the call before it.
  void roll_back(std::uint64_t length) override {
    const bool boundary =
        std::ranges::find(state_.past, length, &PastCall::fed) != state_.past.end();
    Wrong::roll_back(length);
    if (!boundary || length <= contract_.budget) return;
    for (CacheUnit& unit : state_.units) {
      if (unit.rows.size() < 2) continue;
      unit.rows.erase(unit.rows.begin());
      close_gaps(unit);
    }
  }
};

struct EmptyCallSkipsATrim final : Wrong {
  Answer<Facts> feed(const Feed& feed) override {
    auto answer = Wrong::feed(feed);
    skips_ = feed.tokens.empty() && state_.fed > 2 * std::uint64_t{contract_.budget};
    return answer;
  }

  void after_chunk(CacheUnit& unit) override {
    if (!skips_) Wrong::after_chunk(unit);
  }

  bool skips_ = false;
};

struct ThirdSequence final : Wrong {
  bool may_see(const CacheUnit& unit, const StoredRow& row, Token query) override {
    const bool third = place_of(unit).sequence == 2;
    if (third && is_sink(row) && row.token != query) return false;
    return Wrong::may_see(unit, row, query);
  }
};

struct WideChunkAfterTheWrap final : CausalWrong {
  Rows returned_rows(const CacheUnit& unit, std::size_t chunk) override {
    Rows rows = CausalWrong::returned_rows(unit, chunk);
    const bool late = unit.fed > 4 * std::uint64_t{contract_.budget};
    if (late && chunk > contract_.budget && rows.size() > chunk) rows.erase(rows.begin());
    return rows;
  }
};

struct TrimsTooFarAtTheSlack final : Wrong {
  static TaggedOptions options() { return {.timing = Timing::lazy, .slack = 5}; }

  void after_chunk(CacheUnit& unit) override {
    const bool exact = unit.rows.size() == std::size_t{contract_.budget} + options_.slack + 1;
    Wrong::after_chunk(unit);
    if (!exact || unit.rows.size() < contract_.budget || contract_.budget < 3) return;
    unit.rows.erase(unit.rows.begin() + std::min<std::uint32_t>(contract_.sinks, 1));
    close_gaps(unit);
  }
};

// A page is as long as a chunk of the budget needs it, and a longer one is written behind its end.
struct WritesPastItsArray final : Wrong {
  void after_chunk(CacheUnit& unit) override {
    Wrong::after_chunk(unit);
    volatile std::size_t size = 4096;  // so that no compiler sees what is wrong here
    std::vector<char> page(size);
    volatile char* const end = page.data() + size;
    for (int i = 0; i < (chunk_ > contract_.budget ? 32 : 0); ++i) end[i] = 0x55;
  }
};

}  // namespace

std::vector<Mutant> rare_mutants() {
  return {
      {"writes-past-its-array", "a chunk longer than the budget is written 32 bytes past an array",
       "made", of<WritesPastItsArray>},
      {"second-wrap-one-slot-on",
       "on its second round, and only then, a ring writes a slot further",
       "made, after ring buffers", of<SecondWrapOneOff>},
      {"restored-in-the-middle-of-a-wrap", "a ring that is saved half round goes on from its begin",
       "made", of<RestoredMidWrap>},
      {"chunk-of-the-budget-replaces-all",
       "a chunk exactly as long as the budget replaces sinks too", "made", of<ChunkOfTheBudget>},
      {"head-1-of-layer-1-loses-a-row", "one head of one layer stores a row less", "made",
       of<OneHeadOfOneLayer>},
      {"trims-late-after-a-reset", "after a reset a token over the budget is kept", "made",
       of<TrimsLateAfterReset>},
      {"reservoir-counts-in-eight-bits",
       "the range of a reservoir's draws begins again after 256 tokens",
       "made, after draws of a fixed range", of<CountOfEightBits>},
      {"ties-turn-with-the-chunk",
       "equals: token by token the oldest is evicted, in chunks the newest", "made",
       of<TieOrderFollowsTheChunk>},
      {"rollback-to-a-boundary-loses-a-row", "a rollback to where a call began loses the first row",
       "made", of<RollbackToTheBoundary>},
      {"empty-call-skips-a-trim", "in a full cache the call after an empty one trims nothing",
       "made", of<EmptyCallSkipsATrim>},
      {"third-sequence-sees-no-sinks", "from the third sequence of a batch on sinks are masked",
       "made", of<ThirdSequence>},
      {"wide-chunk-late-loses-the-first-row",
       "a chunk longer than the budget, late in the stream, does not see the first row", "made",
       of<WideChunkAfterTheWrap>},
      {"trims-too-far-at-the-slack", "a store that is exactly one over the slack is cut too far",
       "made", of<TrimsTooFarAtTheSlack>},
  };
}

}  // namespace kv::properties
