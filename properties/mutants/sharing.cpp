// Budgets that the heads of a layer share, dealt wrongly; and layers that attend to the rows of
// others, and read what those do not store.
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

struct Borrowing : Wrong {
  static TaggedOptions options() {
    return {.policy = "h2o", .visibility = Visibility::causal, .rollback = 4, .borrows = true};
  }

  [[nodiscard]] bool is_owner(std::uint32_t layer) const { return contract_.owns_rows(layer); }
};

// The layer copies the rows when they are written, and lets its own queries decide over the copies:
// alone a right cache, with rows that were made for the owner.
struct CopyTrimmedApart final : Borrowing {
  std::uint32_t owner_of(std::uint32_t layer) override { return layer; }

  StoredVectors make_vectors(Token token, std::size_t head, double position) override {
    Place owner = place_of(head);
    owner.layer = contract_.owner_of(owner.layer);
    return Borrowing::make_vectors(token, heads_.index_of(owner), position);
  }
};

// The layer reads what the layer before it reads.
struct ReadsNeighbour final : Borrowing {
  std::uint32_t owner_of(std::uint32_t layer) override {
    return contract_.owner_of(is_owner(layer) ? layer : layer - 1);
  }
};

// The layer looks its rows up when it attends: other calls than feeds leave what it found then.
struct StaleCopy final : Borrowing {
  UnitFacts borrowed(const UnitFacts& owner, std::size_t head) override {
    copies_.resize(heads_.count());
    if (!asking_.empty() || copies_[head].empty()) copies_[head] = owner.stored;
    UnitFacts facts = Borrowing::borrowed(owner, head);
    facts.stored = copies_[head];
    return facts;
  }

  std::vector<std::vector<Row>> copies_;
};

// The layer attends before the owner has evicted: a token that has just gone is seen once more
// instead of the one that came, so that the numbers are right.
struct ReadsOneCallLate final : Borrowing {
  UnitFacts borrowed(const UnitFacts& owner, std::size_t head) override {
    UnitFacts facts = Borrowing::borrowed(owner, head);
    if (asking_.empty()) return facts;
    before_.resize(heads_.count());
    const std::vector<Row> now = facts.stored;
    if (before_[head].size() == now.size()) facts.stored = before_[head];
    before_[head] = now;
    return facts;
  }

  std::vector<std::vector<Row>> before_;
};

// Buffers are made for all layers alike.
struct MemoryForAll final : Borrowing {
  Answer<Facts> feed(const Feed& feed) override {
    auto answer = Borrowing::feed(feed);
    if (auto* const facts = std::get_if<Facts>(&answer)) {
      for (UnitFacts& unit : facts->units) unit.bytes = 64 * unit.stored.size();
    }
    return answer;
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

std::vector<Mutant> borrowing_mutants() {
  return {
      {"borrowed-rows-trimmed-apart",
       "a layer copies another's rows as they come and evicts from the copy by its own attention",
       "made, after caches that give every layer an object of its own", of<CopyTrimmedApart>},
      {"reads-its-neighbours-rows",
       "a layer reads the rows of the layer before it, whose kind is another",
       "made, after Gemma 3n, whose layers share by kind", of<ReadsNeighbour>},
      {"borrowed-rows-stale", "a truncate or reorder leaves a layer's copy of the rows as it was",
       "made", of<StaleCopy>},
      {"borrowed-rows-one-call-late", "a layer keeps what the owner stored a call before", "made",
       of<ReadsOneCallLate>},
      {"memory-for-borrowed-rows", "layers that store no rows have buffers all the same",
       "made, after engines that allocate by the number of layers", of<MemoryForAll>},
  };
}

}  // namespace kv::properties
