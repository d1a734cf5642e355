// Budgets that the heads of a layer share, dealt wrongly.
#include <numeric>

#include "kvcheck/properties/mutants/wrong.h"
#include "kvcheck/properties/plain/plain_sharing.h"

namespace kv::properties {
namespace {

class Sharing : public PlainSharing {
 public:
  using PlainSharing::PlainSharing;

  static PlainOptions options() {
    return {.policy = PlainPolicy::h2o, .visibility = Visibility::causal, .shares = true};
  }

  static void declare(Contract& contract) { contract.reference.clear(); }

 protected:
  // The head keeps its `count` worthiest.
  void keep(PlainGroup& group, std::size_t head, std::size_t count) const {
    const std::vector<Contender> middle = middle_of(group, head);
    for (std::size_t i = 0; i + count < middle.size(); ++i) middle[i].row->gone = true;
  }
};

// These know what scores ought to do, and only the policy that they name tells what they do wrong.
class NamedSharing : public Sharing {
 public:
  using Sharing::Sharing;

  static void declare(Contract&) {}
};

class NoFloors final : public Sharing {
 public:
  using Sharing::Sharing;

  static PlainOptions options() {
    PlainOptions options = Sharing::options();
    options.alpha = 900;
    return options;
  }

 private:
  [[nodiscard]] std::size_t sure() const override { return 0; }
};

class RoundedDown final : public Sharing {
  using Sharing::Sharing;

  // Seats go by the heads' sums, each rounded down.
  void deal(std::span<PlainGroup> layer) override {
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

class AllLayersTogether final : public Sharing {
  using Sharing::Sharing;

  [[nodiscard]] std::size_t sharers() const override { return Sharing::sharers() * setup_.layers; }
};

class ForgetsAHead final : public NamedSharing {
 public:
  using NamedSharing::NamedSharing;

 private:
  void deal(std::span<PlainGroup> layer) override {
    if (layer.size() == 1) return NamedSharing::deal(layer);
    NamedSharing::deal(layer.first(layer.size() - 1));
    NamedSharing::deal(layer.last(1));
  }
};

class DealtOnce final : public NamedSharing {
 public:
  using NamedSharing::NamedSharing;

 private:
  void deal(std::span<PlainGroup> layer) override {
    if (surplus(layer) == 0) return;
    if (layer.front().notes.empty()) {
      NamedSharing::deal(layer);
      for (PlainGroup& group : layer) {
        group.notes = {static_cast<double>(middle_of(group, 0).size())};
      }
      return;
    }
    for (std::size_t head = 0; head < layer.size(); ++head) {
      keep(layer[head], head, static_cast<std::size_t>(layer[head].notes.front()));
    }
  }
};

class NotNormalised final : public NamedSharing {
 public:
  using NamedSharing::NamedSharing;

 private:
  // Logits of later heads are larger.
  [[nodiscard]] double score(const PlainRow& row, std::size_t head) const override {
    return NamedSharing::score(row, head) * static_cast<double>(1 + head);
  }
};

}  // namespace

std::vector<Mutant> sharing_mutants() {
  return {
      mutant<NoFloors>("shared-budget-without-floors",
                       "a head that attends evenly loses all of its middle to the others",
                       "made, after Ada-KV's safeguard"),
      mutant<RoundedDown>("shares-rounded-down",
                          "seats go by the heads' sums, and what rounding leaves goes to nobody",
                          "made, after FFY0/AdaKV, which rounds each head's share for itself"),
      mutant<AllLayersTogether>("all-layers-share-one-budget",
                                "the pool is the whole model's instead of a layer's", "made"),
      mutant<ForgetsAHead>("pool-without-the-last-head",
                           "the last head of a layer keeps its equal share", "made"),
      mutant<DealtOnce>("shared-budget-dealt-once",
                        "the first trim deals the budget, and heads then keep their sizes",
                        "made, after Ada-KV, which deals after the prompt"),
      mutant<NotNormalised>("scores-compared-before-normalisation",
                            "heads compare what they gave before it was divided by its sum",
                            "made"),
  };
}

}  // namespace kv::properties
