// Right but in one circumstance: after the second wrap, in one head of one layer, after a reset, at
// one size of chunk.
#include <utility>

#include "kvcheck/properties/mutants/wrong.h"

namespace kv::properties {
namespace {

class RareRing : public Wrong {
 public:
  using Wrong::Wrong;

  static PlainOptions options() {
    return {.timing = Timing::lazy, .slack = 3, .slots = PlainSlots::ring, .longest_chunk = 4};
  }

 protected:
  // The slot of the `at`-th token behind the sinks.
  std::size_t write_at(PlainGroup& group, std::size_t at) const {
    const std::size_t ring = contract_.budget + contract_.slack - contract_.sinks;
    const std::size_t slot = contract_.sinks + at % ring;
    std::erase_if(group.rows, [slot](const PlainRow& row) { return row.slot == slot; });
    return slot;
  }
};

class SecondWrapOneOff final : public RareRing {
  using RareRing::RareRing;

  std::size_t slot_for(PlainGroup& group, Token token) override {
    const auto position = static_cast<std::size_t>(token.position);
    if (position < contract_.sinks) return position;
    const std::size_t at = position - contract_.sinks;
    const std::size_t ring = contract_.budget + contract_.slack - contract_.sinks;
    return write_at(group, at / ring == 2 ? at + 1 : at);
  }
};

class RestoredMidWrap final : public RareRing {
  using RareRing::RareRing;

  Answer<Done> restore(std::span<const std::uint8_t> bytes) override {
    auto answer = RareRing::restore(bytes);
    restored_ = state_.fed;
    return answer;
  }

  // The place to write at is not saved: after a restore it is that of a full ring's begin.
  std::size_t slot_for(PlainGroup& group, Token token) override {
    const auto position = static_cast<std::size_t>(token.position);
    const std::size_t ring = contract_.budget + contract_.slack - contract_.sinks;
    if (position < contract_.sinks || restored_ < contract_.sinks + ring) {
      return RareRing::slot_for(group, token);
    }
    return write_at(group, position - restored_);
  }

  std::uint64_t restored_ = 0;
};

class ChunkOfTheBudget final : public Wrong {
  using Wrong::Wrong;

  // A chunk that fills the cache replaces it, sinks and all.
  void append(PlainGroup& group, std::span<const Token> tokens) override {
    if (tokens.size() == contract_.budget && tokens.size() > 1) group.rows.clear();
    Wrong::append(group, tokens);
  }
};

class OneHeadOfOneLayer final : public Wrong {
 public:
  using Wrong::Wrong;

  static PlainOptions options() { return {.visibility = Visibility::causal}; }

 private:
  void after_chunk(PlainGroup& group) override {
    Wrong::after_chunk(group);
    const Place place = place_of(first_unit(group));
    const bool here = place.layer == 1 && place.head == 1 && place.sequence == 0;
    if (!here || group.rows.size() < 2 || group.rows.size() < contract_.budget) return;
    group.rows.erase(group.rows.begin() + contract_.sinks);
    close_gaps(group);
  }
};

class TrimsLateAfterReset final : public Wrong {
  using Wrong::Wrong;

  Answer<Done> reset() override {
    auto answer = Wrong::reset();
    for (PlainGroup& group : state_.groups) group.notes = {1};
    return answer;
  }

  void after_chunk(PlainGroup& group) override {
    if (!group.notes.empty() && group.rows.size() == contract_.budget + 1) return;
    Wrong::after_chunk(group);
  }
};

class CountOfEightBits final : public Wrong {
 public:
  using Wrong::Wrong;

  static PlainOptions options() { return {.policy = PlainPolicy::reservoir_r}; }

  static void declare(Contract&) {}

 private:
  std::size_t victim(PlainGroup& group,
                     const std::vector<std::size_t>& candidates,
                     std::size_t k,
                     Draws& draws) override {
    const std::uint64_t entered = group.entered;
    group.entered = std::max<std::uint64_t>(k + 1, entered % 256);
    const std::size_t leaves = Wrong::victim(group, candidates, k, draws);
    group.entered = entered;
    return leaves;
  }
};

class TiesTurnWithTheChunk final : public Wrong {
 public:
  using Wrong::Wrong;

  static PlainOptions options() {
    return {.policy = PlainPolicy::tova, .visibility = Visibility::causal};
  }

  static void declare(Contract&) {}

 private:
  std::size_t victim(PlainGroup& group,
                     const std::vector<std::size_t>& candidates,
                     std::size_t k,
                     Draws& draws) override {
    const std::size_t first = Wrong::victim(group, candidates, k, draws);
    std::size_t last = first;
    for (std::size_t i = first; i < candidates.size() && chunk_ > 1; ++i) {
      const bool tie = group.rows[candidates[i]].last == group.rows[candidates[first]].last;
      last = tie ? i : last;
    }
    return last;
  }
};

class RollbackToTheBoundary final : public Wrong {
 public:
  using Wrong::Wrong;

  static PlainOptions options() { return {.rollback = any_depth}; }

 private:
  // A length at which a call began is taken for one inside the call before it.
  void roll_back(std::uint64_t length) override {
    const bool boundary =
        std::ranges::find(state_.past, length, &PlainPast::fed) != state_.past.end();
    Wrong::roll_back(length);
    if (!boundary || length <= contract_.budget) return;
    for (PlainGroup& group : state_.groups) {
      if (group.rows.size() < 2) continue;
      group.rows.erase(group.rows.begin());
      close_gaps(group);
    }
  }
};

class EmptyCallSkipsATrim final : public Wrong {
  using Wrong::Wrong;

  Answer<Facts> feed(const Feed& feed) override {
    auto answer = Wrong::feed(feed);
    skips_ = feed.tokens.empty() && state_.fed > 2 * std::uint64_t{contract_.budget};
    return answer;
  }

  void after_chunk(PlainGroup& group) override {
    if (!skips_) Wrong::after_chunk(group);
  }

  bool skips_ = false;
};

class ThirdSequence final : public Wrong {
  using Wrong::Wrong;

  bool may_see(const PlainGroup& group, const PlainRow& row, Token query) override {
    const bool third = place_of(first_unit(group)).sequence == 2;
    if (third && is_sink(row) && row.token != query) return false;
    return Wrong::may_see(group, row, query);
  }
};

class WideChunkAfterTheWrap final : public Wrong {
 public:
  using Wrong::Wrong;

  static PlainOptions options() { return {.visibility = Visibility::causal}; }

 private:
  std::vector<std::size_t> returned_rows(const PlainGroup& group, std::size_t chunk) override {
    std::vector<std::size_t> rows = Wrong::returned_rows(group, chunk);
    const bool late = group.fed > 4 * std::uint64_t{contract_.budget};
    if (late && chunk > contract_.budget && rows.size() > chunk) rows.erase(rows.begin());
    return rows;
  }
};

class TrimsTooFarAtTheSlack final : public Wrong {
 public:
  using Wrong::Wrong;

  static PlainOptions options() { return {.timing = Timing::lazy, .slack = 5}; }

 private:
  void after_chunk(PlainGroup& group) override {
    const bool exact = group.rows.size() == std::size_t{contract_.budget} + options_.slack + 1;
    Wrong::after_chunk(group);
    if (!exact || group.rows.size() < contract_.budget || contract_.budget < 3) return;
    group.rows.erase(group.rows.begin() + std::min<std::uint32_t>(contract_.sinks, 1));
    close_gaps(group);
  }
};

}  // namespace

std::vector<Mutant> rare_mutants() {
  return {
      mutant<SecondWrapOneOff>("second-wrap-one-slot-on",
                               "on its second round, and only then, a ring writes a slot further",
                               "made, after ring buffers"),
      mutant<RestoredMidWrap>("restored-in-the-middle-of-a-wrap",
                              "a ring that is saved half round goes on from its begin", "made"),
      mutant<ChunkOfTheBudget>("chunk-of-the-budget-replaces-all",
                               "a chunk exactly as long as the budget replaces sinks too", "made"),
      mutant<OneHeadOfOneLayer>("head-1-of-layer-1-loses-a-row",
                                "one head of one layer stores a row less", "made"),
      mutant<TrimsLateAfterReset>("trims-late-after-a-reset",
                                  "after a reset a token over the budget stays", "made"),
      mutant<CountOfEightBits>("reservoir-counts-in-eight-bits",
                               "the range of a reservoir's draws begins again after 256 tokens",
                               "made, after draws of a fixed range"),
      mutant<TiesTurnWithTheChunk>("ties-turn-with-the-chunk",
                                   "equals: token by token the oldest goes, in chunks the newest",
                                   "made"),
      mutant<RollbackToTheBoundary>("rollback-to-a-boundary-loses-a-row",
                                    "a rollback to where a call began loses the first row", "made"),
      mutant<EmptyCallSkipsATrim>("empty-call-skips-a-trim",
                                  "in a full cache the call after an empty one trims nothing",
                                  "made"),
      mutant<ThirdSequence>("third-sequence-sees-no-sinks",
                            "from the third sequence of a batch on sinks are masked", "made"),
      mutant<WideChunkAfterTheWrap>("wide-chunk-late-loses-the-first-row",
                                    "a chunk longer than the budget, late in the stream, does not "
                                    "see the first row",
                                    "made"),
      mutant<TrimsTooFarAtTheSlack>("trims-too-far-at-the-slack",
                                    "a store that is exactly one over the slack is cut too far",
                                    "made"),
  };
}

}  // namespace kv::properties
