// Algorithm L with a slip, and samplers that only look random.
#include <cmath>

#include "kvcheck/base/random/rng.h"
#include "kvcheck/properties/mutants/wrong.h"

namespace kv::properties {
namespace {

using Rows = std::vector<std::size_t>;

enum class Slip { first_gap, early_w, long_gap, same_u, exponent, frozen_w, w_is_u };

template <Slip slip>
class Skips final : public Wrong {
 public:
  using Wrong::Wrong;

  static PlainOptions options() { return {.policy = PlainPolicy::reservoir_l}; }

 private:
  std::size_t victim(PlainGroup& group,
                     const Rows& candidates,
                     std::size_t k,
                     Draws& draws) override {
    const auto newcomer = static_cast<Position>(group.rows[candidates.back()].token.position);
    if (group.next == 0) advance(group, k, k, newcomer, 0, draws);
    if (group.entered < group.next) return k;
    const std::size_t replaced = draws.below(k, newcomer, 4);
    advance(group, group.entered, k, newcomer, 2, draws);
    return replaced;
  }

  static void advance(PlainGroup& group,
                      std::uint64_t entered,
                      std::size_t k,
                      Position newcomer,
                      std::uint32_t index,
                      Draws& draws) {
    const bool first = group.next == 0;
    const double u = draws.uniform(newcomer, index);
    const double v = slip == Slip::same_u ? u : draws.uniform(newcomer, index + 1);
    const auto root = static_cast<double>(slip == Slip::exponent ? k + 1 : k);
    if (slip != Slip::frozen_w || first) group.log_w += std::log(u) / root;
    if (slip == Slip::w_is_u && first) group.log_w = std::log(u);
    if (slip == Slip::early_w && first) {
      group.log_w += std::log(draws.uniform(newcomer, 5)) / root;
    }
    const double gap = std::floor(std::log(v) / std::log1p(-std::exp(group.log_w)));
    group.next = entered + 1 + static_cast<std::uint64_t>(std::min(gap, 1e15));
    if (slip == Slip::long_gap || (slip == Slip::first_gap && first)) ++group.next;
  }
};

class OwnChance : public Wrong {
 public:
  using Wrong::Wrong;

  static PlainOptions options() { return {.policy = PlainPolicy::reservoir_r, .own_chance = true}; }

 protected:
  [[nodiscard]] Rng rng(const PlainGroup& group) const {
    return Rng(setup_.seed, static_cast<std::uint32_t>(index_of(group)));
  }
};

class PairsTogether final : public OwnChance {
  using OwnChance::OwnChance;

  std::size_t victim(PlainGroup& group, const Rows& candidates, std::size_t, Draws&) override {
    const Rng chance = rng(group);
    std::size_t worst = 0;
    std::uint64_t highest = 0;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const auto pair = static_cast<Position>(group.rows[candidates[i]].token.position / 2);
      if (chance.bits(pair) < highest) continue;
      highest = chance.bits(pair);
      worst = i;
    }
    return worst;
  }
};

class EveryNth final : public OwnChance {
  using OwnChance::OwnChance;

  std::size_t victim(PlainGroup& group, const Rows& candidates, std::size_t, Draws&) override {
    const std::uint64_t start = rng(group).below(1U << 20U, 0);
    if (group.notes.empty()) group.notes = {1};
    for (;;) {
      const auto stride = static_cast<std::uint64_t>(group.notes[0]);
      for (std::size_t i = 0; i < candidates.size(); ++i) {
        const auto position = static_cast<std::uint64_t>(group.rows[candidates[i]].token.position);
        if ((position + start) % stride != 0) return i;
      }
      group.notes[0] *= 2;
    }
  }
};

class OneDraw final : public OwnChance {
  using OwnChance::OwnChance;

  std::size_t victim(PlainGroup& group, const Rows&, std::size_t k, Draws&) override {
    const double u = rng(group).uniform(0);
    const auto j = static_cast<std::size_t>(u * static_cast<double>(group.entered));
    return std::min(j, k);
  }
};

class LowBits final : public OwnChance {
  using OwnChance::OwnChance;

  std::size_t victim(PlainGroup& group, const Rows&, std::size_t k, Draws&) override {
    if (group.notes.empty()) group.notes = {static_cast<double>(rng(group).below(1U << 31U, 0))};
    const auto draw = [&] {
      const auto state = static_cast<std::uint64_t>(group.notes[0]);
      group.notes[0] = static_cast<double>((state * 1103515245U + 12345U) % (1U << 31U));
      return static_cast<std::uint64_t>(group.notes[0]);
    };
    return draw() % group.entered < k ? draw() % k : k;
  }
};

}  // namespace

std::vector<Mutant> skip_mutants() {
  return {
      mutant<Skips<Slip::first_gap>>("item-after-the-fill-impossible",
                                     "the first gap is one too long", "opentelemetry-go 8309"),
      mutant<Skips<Slip::early_w>>("w-advanced-before-the-first-gap",
                                   "W takes two steps before it is first used",
                                   "opentelemetry-go 8309, in its review"),
      mutant<Skips<Slip::long_gap>>("every-gap-one-too-long", "every gap is one too long", "made"),
      mutant<Skips<Slip::same_u>>("one-number-for-gap-and-w",
                                  "the gap and W are made of the same draw", "made"),
      mutant<Skips<Slip::exponent>>("w-by-the-next-root", "W falls by a root of k + 1", "made"),
      mutant<Skips<Slip::frozen_w>>("w-never-updated", "W stays as it was first drawn", "made"),
      mutant<Skips<Slip::w_is_u>>("w-starts-at-u", "the first W lacks its root", "made"),
      mutant<PairsTogether>("pairs-stay-together", "neighbours come and go together", "made"),
      mutant<EveryNth>("every-nth-from-a-random-start", "a comb with a random start", "made"),
      mutant<OneDraw>("one-draw-a-stream", "one number decides about the whole stream", "made"),
      mutant<LowBits>("low-bits-of-a-generator", "the low bits of a congruential generator",
                      "made, after LCGs in the wild"),
  };
}

}  // namespace kv::properties
