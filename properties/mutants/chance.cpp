// Reservoirs that are not uniform, or not their own.
#include <atomic>
#include <cmath>

#include "kvcheck/base/random/rng.h"
#include "kvcheck/properties/mutants/wrong.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv::properties {
namespace {

struct ChanceWrong : ReservoirWrong {
  // Enters with min(1, share / of); then the older token `replaced` is evicted.
  virtual std::uint64_t share(const CacheUnit&, std::size_t k) { return k; }

  virtual std::uint64_t of(const CacheUnit& unit, std::size_t) { return unit.entered; }

  virtual std::size_t replaced(std::size_t k, Position position, Draws& draws) {
    return draws.below(k, position, 1);
  }

  std::size_t victim(CacheUnit& unit, const Choice& choice, Draws& draws) override {
    const Position position = choice.middle.back();
    const std::uint64_t bound = std::max<std::uint64_t>(1, of(unit, choice.capacity));
    const bool enters = draws.below(bound, position, 0) < share(unit, choice.capacity);
    return enters ? replaced(choice.capacity, position, draws) : choice.capacity;
  }
};

struct CountsWithoutNewcomer final : ChanceWrong {
  std::uint64_t of(const CacheUnit& unit, std::size_t) override { return unit.entered - 1; }
};

struct CountsOneMore final : ChanceWrong {
  std::uint64_t of(const CacheUnit& unit, std::size_t) override { return unit.entered + 1; }
};

struct AlwaysReplaces final : ChanceWrong {
  std::uint64_t of(const CacheUnit&, std::size_t) override { return 1; }
};

struct CountRestarts final : ChanceWrong {
  std::uint64_t of(const CacheUnit& unit, std::size_t k) override { return unit.entered - k; }
};

struct EntersTooOften final : ChanceWrong {
  std::uint64_t of(const CacheUnit& unit, std::size_t) override { return 20 * unit.entered; }

  std::uint64_t share(const CacheUnit&, std::size_t k) override { return 21 * k; }
};

struct LastNeverReplaced final : ChanceWrong {
  std::size_t replaced(std::size_t k, Position position, Draws& draws) override {
    return draws.below(std::max<std::size_t>(1, k - 1), position, 1);
  }
};

struct OldestReplaced final : ChanceWrong {
  std::size_t replaced(std::size_t, Position, Draws&) override { return 0; }
};

struct TiltsToOldest final : ChanceWrong {
  std::size_t replaced(std::size_t k, Position position, Draws& draws) override {
    return draws.below(10, position, 2) == 0 ? 0 : ChanceWrong::replaced(k, position, draws);
  }
};

struct ModuloOfAByte final : ChanceWrong {
  std::size_t victim(CacheUnit& unit, const Choice& choice, Draws& draws) override {
    const Position position = choice.middle.back();
    const std::uint64_t draw = draws.below(256, position, 0) % unit.entered;
    return draw < choice.capacity ? draws.below(256, position, 1) % choice.capacity
                                  : choice.capacity;
  }
};

// As a program has it: its draws are its own, so that no outcome can be enumerated.
struct ModuloOfTenBits final : ChanceWrong {
  static TaggedOptions options() { return {.policy = "reservoir", .own_chance = true}; }

  std::size_t victim(CacheUnit& unit, const Choice& choice, Draws& draws) override {
    const Position position = choice.middle.back();
    const std::uint64_t draw = draws.below(1024, position, 0) % unit.entered;
    return draw < choice.capacity ? draw : choice.capacity;
  }
};

// The rows with the largest keys are the sample, and keys are stored in eight bits of mantissa:
// above one half they are multiples of 1/256, and among equals the older remains.
struct KeysInBf16 final : ChanceWrong {
  static TaggedOptions options() { return ModuloOfTenBits::options(); }

  std::size_t victim(CacheUnit&, const Choice& choice, Draws& draws) override {
    const auto key = [&](Position position) {
      int exponent = 0;
      const double mantissa = std::frexp(draws.uniform(position, 0), &exponent);
      return std::ldexp(std::nearbyint(mantissa * 256), exponent);
    };
    std::size_t least = 0;
    for (std::size_t i = 1; i < choice.middle.size(); ++i) {
      if (key(choice.middle[i]) <= key(choice.middle[least])) least = i;
    }
    return least;
  }
};

// The count is the same for a whole chunk.
struct ChunkChance : ChanceWrong {
  static TaggedOptions options() {
    return {.policy = "reservoir", .visibility = Visibility::causal};
  }

  void release(CacheUnit& unit, std::uint64_t end) override {
    begin_ = unit.entered + 1;
    const std::uint64_t gone = contract_.recent + contract_.sinks;
    end_ = std::min(end, unit.fed) - std::min(std::min(end, unit.fed), gone);
    ChanceWrong::release(unit, end);
  }

  std::uint64_t begin_ = 0;
  std::uint64_t end_ = 0;
};

struct CountsAtChunkEnd final : ChunkChance {
  std::uint64_t of(const CacheUnit& unit, std::size_t) override {
    return std::max(end_, unit.entered);
  }
};

struct CountsAtChunkBegin final : ChunkChance {
  std::uint64_t of(const CacheUnit&, std::size_t k) override {
    return std::max<std::uint64_t>(begin_, k);
  }
};

struct ResamplesTheCache final : ChunkChance {
  void settle(CacheUnit&) override {}

  void release(CacheUnit& unit, std::uint64_t end) override {
    ChunkChance::release(unit, end);
    const Choice choice = choice_of(unit);
    const std::size_t k = choice.capacity;
    if (choice.rows.size() <= k) return;
    std::vector<StoredRow*> sample(choice.rows.begin(),
                                   choice.rows.begin() + static_cast<std::ptrdiff_t>(k));
    for (std::size_t i = k; i < choice.rows.size() && k > 0; ++i) {
      const std::uint64_t j = draws_for(unit).below(i + 1, choice.middle[i], 0);
      if (j < k) sample[j] = choice.rows[i];
    }
    for (StoredRow* const row : choice.rows) {
      row->evicted = std::ranges::find(sample, row) == sample.end();
    }
  }
};

struct SharedByAll final : ChanceWrong {
  Draws& draws_for(const CacheUnit&) override {
    return ChanceWrong::draws_for(state_.units.front());
  }
};

struct SharedByLayers final : ChanceWrong {
  Draws& draws_for(const CacheUnit& unit) override {
    return ChanceWrong::draws_for(state_.units[index_of(unit) % setup_.kv_heads]);
  }
};

struct GrowingTarget final : ChanceWrong {
  static void declare(Contract& contract) {
    Wrong::declare(contract);
    contract.claims.erase("constant-size");
    contract.keeps_fewer = true;
  }

  void settle(CacheUnit& unit) override {
    const Spec right = spec();
    Spec smaller = right;
    smaller.budget -= static_cast<std::uint32_t>(capacity() / 2);
    if (capacity() > 1 && unit.entered <= 2 * capacity()) use(smaller);
    ChanceWrong::settle(unit);
    use(right);
  }
};

struct GlobalGenerator final : ChanceWrong {
  static TaggedOptions options() { return {.policy = "random", .own_chance = true}; }

  std::size_t victim(CacheUnit&, const Choice& choice, Draws&) override {
    static std::atomic<std::uint32_t> calls = 0;
    return Rng(1).below(choice.capacity, calls++, 0);
  }
};

}  // namespace

std::vector<Mutant> chance_mutants() {
  constexpr std::string_view paper = "Pan et al., reservoir sampling for StreamingLLM, figure 2";
  return {
      {"count-without-the-newcomer", "enters with k/(t-1)",
       "spark 16129; LightGBM 4450; nebula 6091", of<CountsWithoutNewcomer>},
      {"count-one-more", "enters with k/(t+1)", "made", of<CountsOneMore>},
      {"always-replaces", "every newcomer enters", "go-metrics issue 56; folsom issue 7",
       of<AlwaysReplaces>},
      {"count-restarts-once-full", "the count begins again after the fill", "calimero core 3197",
       of<CountRestarts>},
      {"enters-five-percent-more", "enters with 1.05 k/t", "made", of<EntersTooOften>},
      {"last-slot-never-replaced", "the newest sample cannot go", "OnlineStats.jl issue 222",
       of<LastNeverReplaced>},
      {"oldest-sample-replaced", "the victim is the oldest", "made", of<OldestReplaced>},
      {"tilt-to-the-oldest", "one victim in ten is the oldest", "made", of<TiltsToOldest>},
      {"modulo-of-ten-bits", "draws of its own are ten bits modulo the count of tokens", "made",
       of<ModuloOfTenBits>},
      {"keys-in-bf16", "random keys are rounded to bf16, and of equal ones the older remains",
       "made, after bottom-k samples whose keys are stored beside bf16 scores", of<KeysInBf16>},
      {"modulo-of-a-byte", "draws are a byte modulo the bound", "made", of<ModuloOfAByte>},
      {"count-at-chunk-end", "a whole chunk enters by its last count", "made",
       of<CountsAtChunkEnd>},
      {"count-at-chunk-begin", "a whole chunk enters by its first count", "made",
       of<CountsAtChunkBegin>},
      {"resamples-the-cache", "the cache is sampled anew at every trim, as if it were the stream",
       paper, of<ResamplesTheCache>},
      {"one-sample-for-all", "layers, heads and sequences toss the same coins", paper,
       of<SharedByAll>},
      {"one-sample-for-all-layers", "all layers toss the same coins", "kvpress RandomPress",
       of<SharedByLayers>},
      {"growing-target", "the sample is smaller at first and then grows", "asap_sketchlib issue 83",
       of<GrowingTarget>},
      {"global-generator", "chance comes from a generator without a seed",
       "Pan et al., the same code", of<GlobalGenerator>},
  };
}

}  // namespace kv::properties
