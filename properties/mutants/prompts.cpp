// Prompts taken wrongly by caches that take one only when they are empty, and places that are made
// wrongly for the next token.
#include "kvcheck/properties/mutants/wrong.h"

namespace kv::properties {
namespace {

struct PromptWrong : CausalScoredWrong {
  static TaggedOptions options() {
    return {.policy = "h2o",
            .visibility = Visibility::causal,
            .longest_chunk = 2,
            .first_chunk = any_depth};
  }
};

struct FlagSurvivesReset final : PromptWrong {
  Answer<Facts> feed(const Feed& feed) override {
    auto answer = PromptWrong::feed(feed);
    begun_ |= !feed.tokens.empty();
    return answer;
  }

  std::uint32_t longest_now() override {
    return begun_ ? contract_.longest_chunk : PromptWrong::longest_now();
  }

 private:
  bool begun_ = false;
};

struct PromptCutFirst final : PromptWrong {
  Rows returned_rows(const CacheUnit& unit, std::size_t chunk) override {
    Rows rows = PromptWrong::returned_rows(unit, chunk);
    const bool prompt = chunk > contract_.longest_chunk;
    if (prompt && rows.size() > contract_.budget) {
      rows.erase(rows.begin(), rows.end() - static_cast<std::ptrdiff_t>(contract_.budget));
    }
    return rows;
  }
};

struct PromptRemainsWhole final : PromptWrong {
  void after_chunk(CacheUnit& unit) override {
    if (chunk_ <= contract_.longest_chunk) PromptWrong::after_chunk(unit);
  }
};

struct RoomForTheRefused final : PromptWrong {
  Answer<Facts> feed(const Feed& feed) override {
    const std::uint32_t longest = longest_now();
    if (longest > 0 && feed.tokens.size() > longest) {
      for (CacheUnit& unit : state_.units) {
        const bool freed = unit.rows.size() > std::size_t{contract_.sinks} + 1;
        if (freed) unit.rows.erase(unit.rows.begin() + contract_.sinks);
        close_gaps(unit);
      }
    }
    return PromptWrong::feed(feed);
  }
};

struct AheadWrong : Wrong {
  static TaggedOptions options() { return {.evicts_ahead = true}; }
};

struct TwoPlaces final : AheadWrong {
  std::uint64_t ahead() override { return 2; }
};

struct NoPlaceAfterChunks final : AheadWrong {
  std::uint64_t ahead() override { return chunk_ == 1 ? 1 : 0; }
};

struct PlacesForAChunk final : AheadWrong {
  std::uint64_t ahead() override { return chunk_; }
};

struct NewestMakesPlace final : AheadWrong {
  std::uint64_t ahead() override { return 0; }

  void after_chunk(CacheUnit& unit) override {
    AheadWrong::after_chunk(unit);
    if (unit.rows.size() == contract_.budget) unit.rows.pop_back();
  }
};

}  // namespace

std::vector<Mutant> prompt_mutants() {
  return {
      {"prompt-flag-survives-a-reset", "a reset cache takes no second prompt", "made",
       of<FlagSurvivesReset>},
      {"prompt-cut-before-attention", "only what is kept of a prompt is attended to by it",
       "mlxcel pull request 679", of<PromptCutFirst>},
      {"prompt-never-trimmed", "what a prompt has over the budget remains until the next call",
       "vLLM pull request 34568", of<PromptRemainsWhole>},
      {"room-made-for-a-refused-chunk", "a chunk that is too long evicts a row, and is refused",
       "made", of<RoomForTheRefused>},
      {"two-places-made-ahead", "one row too few remains between calls", "made", of<TwoPlaces>},
      {"no-place-after-chunks", "the next token's place is made after single tokens only", "made",
       of<NoPlaceAfterChunks>},
      {"places-for-a-whole-chunk", "the next call is expected to be as long as this one", "made",
       of<PlacesForAChunk>},
      {"newest-makes-place", "the newest row is the one that is kept back", "made",
       of<NewestMakesPlace>},
  };
}

}  // namespace kv::properties
