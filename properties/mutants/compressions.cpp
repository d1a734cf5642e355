// Prompts compressed wrongly: to another share, at another time, or once more.
#include "kvcheck/properties/mutants/wrong.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv::properties {
namespace {

// A share of the prompt remains, and every token after it.
struct GrowingWrong : Wrong {
  static TaggedOptions options() {
    return {.policy = "h2o",
            .visibility = Visibility::causal,
            .compress = Compress::prompt_grow,
            .ratio = 500};
  }

  // The spec whose prompt leaves `share` tokens, if it leaves more than the least.
  [[nodiscard]] Spec keeping(std::uint64_t share) const {
    Spec own = for_prompt(declared(), state_.prompt);
    own.budget = std::max(declared().budget, static_cast<std::uint32_t>(share));
    return own;
  }
};

// A share of the prompt remains for ever.
struct HoldingWrong : GrowingWrong {
  static TaggedOptions options() {
    TaggedOptions options = GrowingWrong::options();
    options.compress = Compress::prompt_hold;
    return options;
  }
};

struct ShareThatLeaves final : GrowingWrong {
  static TaggedOptions options() {
    TaggedOptions options = GrowingWrong::options();
    options.ratio = 300;
    return options;
  }

  Spec spec_for_chunk(std::size_t chunk) override {
    (void)GrowingWrong::spec_for_chunk(chunk);
    return keeping(state_.prompt * (1000 - options_.ratio) / 1000);
  }
};

struct ShareRoundedUp final : GrowingWrong {
  Spec spec_for_chunk(std::size_t chunk) override {
    (void)GrowingWrong::spec_for_chunk(chunk);
    return keeping((state_.prompt * options_.ratio + 999) / 1000);
  }
};

struct ShareOfTheMiddle final : GrowingWrong {
  Spec spec_for_chunk(std::size_t chunk) override {
    (void)GrowingWrong::spec_for_chunk(chunk);
    const std::uint64_t kept = std::uint64_t{declared().sinks} + declared().recent;
    return keeping(kept + (state_.prompt - std::min(state_.prompt, kept)) * options_.ratio / 1000);
  }
};

struct ShareOfAllTokens final : HoldingWrong {
  Spec spec_for_chunk(std::size_t chunk) override {
    (void)HoldingWrong::spec_for_chunk(chunk);
    return keeping((state_.fed + chunk) * options_.ratio / 1000);
  }
};

struct FirstPromptForEver final : HoldingWrong {
  Spec spec_for_chunk(std::size_t chunk) override {
    Spec own = HoldingWrong::spec_for_chunk(chunk);
    if (first_ == 0) first_ = own.budget;
    own.budget = first_;
    return own;
  }

 private:
  std::uint32_t first_ = 0;
};

struct EveryChunkIsAPrompt final : GrowingWrong {
  Spec spec_for_chunk(std::size_t chunk) override {
    const bool prompt = state_.fed > 0 && chunk > 1;
    Spec own = GrowingWrong::spec_for_chunk(chunk);
    if (prompt) own.phases.first_trim = state_.fed + chunk;
    return own;
  }
};

struct TrimsWhatGrew final : GrowingWrong {
  Spec spec_for_chunk(std::size_t chunk) override {
    Spec own = GrowingWrong::spec_for_chunk(chunk);
    const bool doubled = state_.fed > 0 && state_.fed + chunk > state_.prompt + own.budget;
    if (doubled) own.phases.then = Phases::Then::hold;
    return own;
  }
};

struct ForkBeginsAnew final : GrowingWrong {
  Answer<std::unique_ptr<Subject>> fork() override {
    auto answer = GrowingWrong::fork();
    auto* const made = std::get_if<std::unique_ptr<Subject>>(&answer);
    if (made != nullptr) dynamic_cast<ForkBeginsAnew&>(**made).anew_ = true;
    return answer;
  }

  Spec spec_for_chunk(std::size_t chunk) override {
    Spec own = GrowingWrong::spec_for_chunk(chunk);
    if (anew_) own.phases.first_trim = state_.fed + chunk;
    anew_ = false;
    return own;
  }

 private:
  bool anew_ = false;
};

struct SlackForThePrompt final : HoldingWrong {
  static TaggedOptions options() {
    TaggedOptions options = HoldingWrong::options();
    options.timing = Timing::lazy;
    options.slack = 3;
    options.ratio = 0;
    return options;
  }

  bool is_over_budget(std::span<const CacheUnit> units) override {
    const CacheUnit& unit = units.front();
    if (unit.fed > state_.prompt) return HoldingWrong::is_over_budget(units);
    return unit.rows.size() > std::size_t{contract_.budget} + options_.slack;
  }
};

}  // namespace

std::vector<Mutant> compression_mutants() {
  return {
      {"share-that-leaves", "the share that is to remain of a prompt is the one that leaves",
       "made, after NVIDIA/kvpress, whose compression_ratio is 1 - ratio", of<ShareThatLeaves>},
      {"share-rounded-up", "a share of a prompt is rounded up", "made", of<ShareRoundedUp>},
      {"share-of-the-middle", "the share is of what sinks and window leave, and they come on top",
       "made", of<ShareOfTheMiddle>},
      {"share-of-all-tokens", "the share of the prompt grows with the tokens after it", "made",
       of<ShareOfAllTokens>},
      {"first-prompt-for-ever", "a reset cache keeps the share of its first prompt", "made",
       of<FirstPromptForEver>},
      {"every-chunk-is-a-prompt", "a later call of several tokens is compressed like a prompt",
       "made, after caches that tell a prompt by its length (VeloxQuant-MLX #84)",
       of<EveryChunkIsAPrompt>},
      {"trims-what-grew", "once the answer is as long as the budget, it is trimmed to it", "made",
       of<TrimsWhatGrew>},
      {"fork-begins-anew", "a fork takes its first call for a prompt", "made", of<ForkBeginsAnew>},
      {"slack-for-the-prompt", "a prompt that is over the budget by the slack is not trimmed",
       "made", of<SlackForThePrompt>},
  };
}

}  // namespace kv::properties
