// Algorithm L with a slip, and samplers that only look random.
#include <cmath>

#include "kvcheck/base/random/rng.h"
#include "kvcheck/properties/mutants/wrong.h"

namespace kv::properties {
namespace {

enum class Slip { first_gap, early_w, long_gap, same_u, exponent, frozen_w, w_is_u };

template <Slip slip>
struct Skips final : Wrong {
  static TaggedOptions options() { return {.policy = "reservoir:algorithm=l"}; }

  // As the rule does, whose notes these are: ln W, and the count at which the next token enters.
  std::size_t victim(CacheUnit& unit, const Choice& choice, Draws& draws) override {
    const bool first = unit.notes.empty();
    const auto entered = static_cast<double>(unit.entered);
    if (first) unit.notes = {0, 0};
    if (first) advance(unit, choice, {static_cast<double>(choice.capacity), 0, true}, draws);
    if (entered < unit.notes[1]) return choice.capacity;
    const std::size_t replaced = draws.below(choice.capacity, choice.middle.back(), 4);
    advance(unit, choice, {entered, 2, false}, draws);
    return replaced;
  }

  struct Step {
    double entered;
    std::uint32_t index;  // of its first draw
    bool first;
  };

  static void advance(CacheUnit& unit, const Choice& choice, const Step& step, Draws& draws) {
    const Position newcomer = choice.middle.back();
    double& log_w = unit.notes[0];
    const double u = draws.uniform(newcomer, step.index);
    const double v = slip == Slip::same_u ? u : draws.uniform(newcomer, step.index + 1);
    const auto root = static_cast<double>(choice.capacity + (slip == Slip::exponent ? 1 : 0));
    if (slip != Slip::frozen_w || step.first) log_w += std::log(u) / root;
    if (slip == Slip::w_is_u && step.first) log_w = std::log(u);
    if (slip == Slip::early_w && step.first) log_w += std::log(draws.uniform(newcomer, 5)) / root;
    const double gap = std::floor(std::log(v) / std::log1p(-std::exp(log_w)));
    unit.notes[1] = step.entered + 1 + std::min(gap, 1e15);
    if (slip == Slip::long_gap || (slip == Slip::first_gap && step.first)) ++unit.notes[1];
  }
};

struct OwnChance : Wrong {
  static TaggedOptions options() { return {.policy = "reservoir", .own_chance = true}; }

  [[nodiscard]] Rng rng(const CacheUnit& unit) const {
    return Rng(setup_.seed, static_cast<std::uint32_t>(index_of(unit)));
  }
};

struct PairsTogether final : OwnChance {
  std::size_t victim(CacheUnit& unit, const Choice& choice, Draws&) override {
    const Rng chance = rng(unit);
    std::size_t worst = 0;
    std::uint64_t highest = 0;
    for (std::size_t i = 0; i < choice.rows.size(); ++i) {
      const auto pair = static_cast<Position>(choice.rows[i]->token.position / 2);
      if (chance.bits(pair) < highest) continue;
      highest = chance.bits(pair);
      worst = i;
    }
    return worst;
  }
};

struct EveryNth final : OwnChance {
  std::size_t victim(CacheUnit& unit, const Choice& choice, Draws&) override {
    const std::uint64_t start = rng(unit).below(1U << 20U, 0);
    if (unit.notes.empty()) unit.notes = {1};
    for (;;) {
      const auto stride = static_cast<std::uint64_t>(unit.notes[0]);
      for (std::size_t i = 0; i < choice.rows.size(); ++i) {
        const auto position = static_cast<std::uint64_t>(choice.rows[i]->token.position);
        if ((position + start) % stride != 0) return i;
      }
      unit.notes[0] *= 2;
    }
  }
};

struct OneDraw final : OwnChance {
  std::size_t victim(CacheUnit& unit, const Choice& choice, Draws&) override {
    const double u = rng(unit).uniform(0);
    const auto j = static_cast<std::size_t>(u * static_cast<double>(unit.entered));
    return std::min(j, choice.capacity);
  }
};

struct LowBits final : OwnChance {
  std::size_t victim(CacheUnit& unit, const Choice& choice, Draws&) override {
    if (unit.notes.empty()) unit.notes = {static_cast<double>(rng(unit).below(1U << 31U, 0))};
    const auto draw = [&] {
      const auto state = static_cast<std::uint64_t>(unit.notes[0]);
      unit.notes[0] = static_cast<double>((state * 1103515245U + 12345U) % (1U << 31U));
      return static_cast<std::uint64_t>(unit.notes[0]);
    };
    return draw() % unit.entered < choice.capacity ? draw() % choice.capacity : choice.capacity;
  }
};

}  // namespace

std::vector<Mutant> skip_mutants() {
  return {
      {"item-after-the-fill-impossible", "the first gap is one too long", "opentelemetry-go 8309",
       of<Skips<Slip::first_gap>>},
      {"w-advanced-before-the-first-gap", "W takes two steps before it is first used",
       "opentelemetry-go 8309, in its review", of<Skips<Slip::early_w>>},
      {"every-gap-one-too-long", "every gap is one too long", "made", of<Skips<Slip::long_gap>>},
      {"one-number-for-gap-and-w", "the gap and W are made of the same draw", "made",
       of<Skips<Slip::same_u>>},
      {"w-by-the-next-root", "W falls by a root of k + 1", "made", of<Skips<Slip::exponent>>},
      {"w-never-updated", "W remains as it was first drawn", "made", of<Skips<Slip::frozen_w>>},
      {"w-starts-at-u", "the first W lacks its root", "made", of<Skips<Slip::w_is_u>>},
      {"pairs-stay-together", "neighbours come and go together", "made", of<PairsTogether>},
      {"every-nth-from-a-random-start", "a comb with a random start", "made", of<EveryNth>},
      {"one-draw-a-stream", "one number decides about the whole stream", "made", of<OneDraw>},
      {"low-bits-of-a-generator", "the low bits of a congruential generator",
       "made, after LCGs in the wild", of<LowBits>},
  };
}

}  // namespace kv::properties
