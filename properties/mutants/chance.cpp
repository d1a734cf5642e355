// Reservoirs that are not uniform, or not their own.
#include <atomic>
#include <cmath>

#include "kvcheck/base/random/rng.h"
#include "kvcheck/properties/mutants/wrong.h"

namespace kv::properties {
namespace {

using Rows = std::vector<std::size_t>;

class ChanceWrong : public Wrong {
 public:
  using Wrong::Wrong;

  static PlainOptions options() { return {.policy = PlainPolicy::reservoir_r}; }

 protected:
  static Position newcomer(const PlainGroup& group, const Rows& candidates) {
    return static_cast<Position>(group.rows[candidates.back()].token.position);
  }

  // Enters with min(1, share / of); then `replaced` of the older ones goes.
  virtual std::uint64_t share(const PlainGroup&, std::size_t k) { return k; }

  virtual std::uint64_t of(const PlainGroup& group, std::size_t) { return group.entered; }

  virtual std::size_t replaced(std::size_t k, Position position, Draws& draws) {
    return draws.below(k, position, 1);
  }

  std::size_t victim(PlainGroup& group,
                     const Rows& candidates,
                     std::size_t k,
                     Draws& draws) override {
    const Position position = newcomer(group, candidates);
    const std::uint64_t bound = std::max<std::uint64_t>(1, of(group, k));
    const bool enters = draws.below(bound, position, 0) < share(group, k);
    return enters ? replaced(k, position, draws) : k;
  }
};

class CountsWithoutNewcomer final : public ChanceWrong {
  using ChanceWrong::ChanceWrong;

  std::uint64_t of(const PlainGroup& group, std::size_t) override { return group.entered - 1; }
};

class CountsOneMore final : public ChanceWrong {
  using ChanceWrong::ChanceWrong;

  std::uint64_t of(const PlainGroup& group, std::size_t) override { return group.entered + 1; }
};

class AlwaysReplaces final : public ChanceWrong {
  using ChanceWrong::ChanceWrong;

  std::uint64_t of(const PlainGroup&, std::size_t) override { return 1; }
};

class CountsPhysical final : public ChanceWrong {
  using ChanceWrong::ChanceWrong;

  std::uint64_t of(const PlainGroup&, std::size_t k) override { return k + 1; }
};

class CountRestarts final : public ChanceWrong {
  using ChanceWrong::ChanceWrong;

  std::uint64_t of(const PlainGroup& group, std::size_t k) override { return group.entered - k; }
};

class EntersTooOften final : public ChanceWrong {
  using ChanceWrong::ChanceWrong;

  std::uint64_t of(const PlainGroup& group, std::size_t) override { return 20 * group.entered; }

  std::uint64_t share(const PlainGroup&, std::size_t k) override { return 21 * k; }
};

class LastNeverReplaced final : public ChanceWrong {
  using ChanceWrong::ChanceWrong;

  std::size_t replaced(std::size_t k, Position position, Draws& draws) override {
    return draws.below(std::max<std::size_t>(1, k - 1), position, 1);
  }
};

class OldestReplaced final : public ChanceWrong {
  using ChanceWrong::ChanceWrong;

  std::size_t replaced(std::size_t, Position, Draws&) override { return 0; }
};

class TiltsToOldest final : public ChanceWrong {
  using ChanceWrong::ChanceWrong;

  std::size_t replaced(std::size_t k, Position position, Draws& draws) override {
    return draws.below(10, position, 2) == 0 ? 0 : ChanceWrong::replaced(k, position, draws);
  }
};

class ModuloOfAByte final : public ChanceWrong {
  using ChanceWrong::ChanceWrong;

  std::size_t victim(PlainGroup& group,
                     const Rows& candidates,
                     std::size_t k,
                     Draws& draws) override {
    const Position position = newcomer(group, candidates);
    const std::uint64_t draw = draws.below(256, position, 0) % group.entered;
    return draw < k ? draws.below(256, position, 1) % k : k;
  }
};

// The count is the same for a whole chunk.
class ChunkChance : public ChanceWrong {
 public:
  using ChanceWrong::ChanceWrong;

  static PlainOptions options() {
    return {.policy = PlainPolicy::reservoir_r, .visibility = Visibility::causal};
  }

 protected:
  void release(PlainGroup& group, std::uint64_t end) override {
    begin_ = group.entered + 1;
    const std::uint64_t gone = contract_.recent + contract_.sinks;
    end_ = std::min(end, group.fed) - std::min(std::min(end, group.fed), gone);
    ChanceWrong::release(group, end);
  }

  std::uint64_t begin_ = 0;
  std::uint64_t end_ = 0;
};

class CountsAtChunkEnd final : public ChunkChance {
 public:
  using ChunkChance::ChunkChance;

 private:
  std::uint64_t of(const PlainGroup& group, std::size_t) override {
    return std::max(end_, group.entered);
  }
};

class CountsAtChunkBegin final : public ChunkChance {
 public:
  using ChunkChance::ChunkChance;

 private:
  std::uint64_t of(const PlainGroup&, std::size_t k) override {
    return std::max<std::uint64_t>(begin_, k);
  }
};

class ResamplesTheCache final : public ChunkChance {
 public:
  using ChunkChance::ChunkChance;

 private:
  void settle(PlainGroup&) override {}

  void release(PlainGroup& group, std::uint64_t end) override {
    ChunkChance::release(group, end);
    Rows middle;
    for (std::size_t i = 0; i < group.rows.size(); ++i) {
      const auto position = static_cast<std::uint64_t>(group.rows[i].token.position);
      if (position >= contract_.sinks && position < group.released) middle.push_back(i);
    }
    const std::size_t k = capacity();
    if (middle.size() <= k) return;
    Rows sample(middle.begin(), middle.begin() + static_cast<std::ptrdiff_t>(k));
    for (std::size_t i = k; i < middle.size() && k > 0; ++i) {
      const auto position = static_cast<Position>(group.rows[middle[i]].token.position);
      const std::uint64_t j = draws_of(group).below(i + 1, position, 0);
      if (j < k) sample[j] = middle[i];
    }
    for (const std::size_t row : middle) {
      group.rows[row].gone = std::ranges::find(sample, row) == sample.end();
    }
  }
};

class SharedByAll final : public ChanceWrong {
  using ChanceWrong::ChanceWrong;

  Draws& draws_of(const PlainGroup&) override {
    return ChanceWrong::draws_of(state_.groups.front());
  }
};

class SharedByLayers final : public ChanceWrong {
  using ChanceWrong::ChanceWrong;

  Draws& draws_of(const PlainGroup& group) override {
    return ChanceWrong::draws_of(state_.groups[index_of(group) % setup_.kv_heads]);
  }
};

class GrowingTarget final : public ChanceWrong {
 public:
  using ChanceWrong::ChanceWrong;

  static void declare(Contract& contract) {
    Wrong::declare(contract);
    contract.claims.erase("constant-size");
    contract.keeps_fewer = true;
  }

 private:
  void settle(PlainGroup& group) override {
    const std::uint32_t budget = contract_.budget;
    const auto half = static_cast<std::uint32_t>(capacity() / 2);
    if (capacity() > 1 && group.entered <= 2 * capacity()) contract_.budget -= half;
    ChanceWrong::settle(group);
    contract_.budget = budget;
  }
};

class GlobalGenerator final : public ChanceWrong {
 public:
  using ChanceWrong::ChanceWrong;

  static PlainOptions options() { return {.policy = PlainPolicy::random, .own_chance = true}; }

 private:
  std::size_t victim(PlainGroup&, const Rows&, std::size_t k, Draws&) override {
    static std::atomic<std::uint32_t> calls = 0;
    return Rng(1).below(k, calls++, 0);
  }
};

}  // namespace

std::vector<Mutant> chance_mutants() {
  constexpr std::string_view paper = "Pan et al., reservoir sampling for StreamingLLM, figure 2";
  return {
      mutant<CountsWithoutNewcomer>("count-without-the-newcomer", "enters with k/(t-1)",
                                    "spark 16129; LightGBM 4450; nebula 6091"),
      mutant<CountsOneMore>("count-one-more", "enters with k/(t+1)", "made"),
      mutant<AlwaysReplaces>("always-replaces", "every newcomer enters",
                             "go-metrics issue 56; folsom issue 7"),
      mutant<CountsPhysical>("physical-length-as-count", "enters with k/(k+1)", paper),
      mutant<CountRestarts>("count-restarts-once-full", "the count begins again after the fill",
                            "calimero core 3197"),
      mutant<EntersTooOften>("enters-five-percent-more", "enters with 1.05 k/t", "made"),
      mutant<LastNeverReplaced>("last-slot-never-replaced", "the newest sample cannot go",
                                "OnlineStats.jl issue 222"),
      mutant<OldestReplaced>("oldest-sample-replaced", "the victim is the oldest", "made"),
      mutant<TiltsToOldest>("tilt-to-the-oldest", "one victim in ten is the oldest", "made"),
      mutant<ModuloOfAByte>("modulo-of-a-byte", "draws are a byte modulo the bound", "made"),
      mutant<CountsAtChunkEnd>("count-at-chunk-end", "a whole chunk enters by its last count",
                               "made"),
      mutant<CountsAtChunkBegin>("count-at-chunk-begin", "a whole chunk enters by its first count",
                                 "made"),
      mutant<ResamplesTheCache>("resamples-the-cache",
                                "the cache is sampled anew at every trim, as if it were the stream",
                                paper),
      mutant<SharedByAll>("one-sample-for-all", "layers, heads and sequences toss the same coins",
                          paper),
      mutant<SharedByLayers>("one-sample-for-all-layers", "all layers toss the same coins",
                             "kvpress RandomPress"),
      mutant<GrowingTarget>("growing-target", "the sample is smaller at first and then grows",
                            "asap_sketchlib issue 83"),
      mutant<GlobalGenerator>("global-generator", "chance comes from a generator without a seed",
                              "Pan et al., the same code"),
  };
}

}  // namespace kv::properties
