// Budgets that the heads of a layer share, dealt wrongly.
#include <numeric>

#include "kvcheck/properties/mutants/wrong.h"

namespace kv::properties {
namespace {

struct Sharing : Wrong {
  static TaggedOptions options() {
    return {.policy = "h2o", .visibility = Visibility::causal, .shares = true};
  }

  // The head keeps its `count` highest.
  void keep(CacheUnit& unit, std::size_t head, std::size_t count) {
    const std::vector<Contender> middle = middle_of(unit, head);
    for (std::size_t i = 0; i + count < middle.size(); ++i) middle[i].row->evicted = true;
  }
};

// These know what scores ought to do, and only the policy that they name tells what they do wrong.
struct NamedSharing : Sharing {
  static void declare(Contract&) {}
};

struct NoFloors final : Sharing {
  static TaggedOptions options() {
    TaggedOptions options = Sharing::options();
    options.alpha = 900;
    return options;
  }

  [[nodiscard]] std::size_t sure() const override { return 0; }
};

struct RoundedDown final : Sharing {
  // Places follow the heads' sums, each rounded down.
  void deal(std::span<CacheUnit> layer) override {
    if (surplus(layer) == 0) return;
    std::vector<double> sums;
    for (std::size_t head = 0; head < layer.size(); ++head) {
      sums.push_back(0);
      for (const Contender& one : middle_of(layer[head], head)) sums.back() += one.score;
    }
    const double total = std::accumulate(sums.begin(), sums.end(), 0.0);
    const auto seats = static_cast<double>(layer.size() * (capacity() - sure()));
    for (std::size_t head = 0; head < layer.size(); ++head) {
      keep(layer[head], head, sure() + static_cast<std::size_t>(seats * sums[head] / total));
    }
  }
};

struct AllLayersTogether final : Sharing {
  [[nodiscard]] std::size_t sharers() const override { return Sharing::sharers() * setup_.layers; }
};

struct ForgetsAHead final : NamedSharing {
  void deal(std::span<CacheUnit> layer) override {
    if (layer.size() == 1) return NamedSharing::deal(layer);
    NamedSharing::deal(layer.first(layer.size() - 1));
    NamedSharing::deal(layer.last(1));
  }
};

struct DealtOnce final : NamedSharing {
  void deal(std::span<CacheUnit> layer) override {
    if (surplus(layer) == 0) return;
    if (layer.front().notes.empty()) {
      NamedSharing::deal(layer);
      for (CacheUnit& unit : layer) {
        unit.notes = {static_cast<double>(middle_of(unit, 0).size())};
      }
      return;
    }
    for (std::size_t head = 0; head < layer.size(); ++head) {
      keep(layer[head], head, static_cast<std::size_t>(layer[head].notes.front()));
    }
  }
};

struct NotNormalised final : NamedSharing {
  // Logits of later heads are larger.
  std::vector<double> scores(CacheUnit& unit, std::size_t head) override {
    std::vector<double> scores = NamedSharing::scores(unit, head);
    for (double& score : scores) score *= static_cast<double>(1 + head);
    return scores;
  }
};

}  // namespace

std::vector<Mutant> sharing_mutants() {
  return {
      {"shared-budget-without-floors",
       "a head that attends evenly loses all of its middle to the others",
       "made, after Ada-KV's safeguard", of<NoFloors>},
      {"shares-rounded-down",
       "places follow the heads' sums, and what rounding leaves is given to no head",
       "made, after FFY0/AdaKV, which rounds each head's share for itself", of<RoundedDown>},
      {"all-layers-share-one-budget", "the pool is the whole model's instead of a layer's", "made",
       of<AllLayersTogether>},
      {"pool-without-the-last-head", "the last head of a layer keeps its equal share", "made",
       of<ForgetsAHead>},
      {"shared-budget-dealt-once",
       "the first trim deals the budget, and heads then keep their sizes",
       "made, after Ada-KV, which deals after the prompt", of<DealtOnce>},
      {"scores-compared-before-normalisation",
       "heads compare what they gave before it was divided by its sum", "made", of<NotNormalised>},
  };
}

}  // namespace kv::properties
