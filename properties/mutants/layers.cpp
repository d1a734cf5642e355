// Layers, heads and sequences that do not keep apart.
#include "kvcheck/properties/mutants/wrong.h"

namespace kv::properties {
namespace {

// Scores come from the payers that payers() names instead of the group's own.
struct OtherPayers : ScoredWrong {
  [[nodiscard]] virtual std::vector<Payer> payers(const Place& place) const = 0;

  std::vector<float> weigh(const CacheUnit& unit, const Query& query, Masses& per_head) override {
    std::vector<float> mean = ScoredWrong::weigh(unit, query, per_head);
    std::ranges::fill(mean, 0.0F);
    const std::vector<Payer> all = payers(place_of(unit));
    for (const Payer& payer : all) {
      const std::vector<float> mass = mass_of(unit, query, payer);
      for (std::size_t i = 0; i < mass.size(); ++i) {
        mean[i] += mass[i] / static_cast<float>(all.size());
      }
    }
    return mean;
  }
};

struct HeadsSummed final : OtherPayers {
  [[nodiscard]] std::vector<Payer> payers(const Place& place) const override {
    std::vector<Payer> all;
    for (std::uint32_t head = 0; head < setup_.query_heads(); ++head) {
      all.push_back({place.sequence, place.layer, head});
    }
    return all;
  }
};

struct BatchSummed final : OtherPayers {
  [[nodiscard]] std::vector<Payer> payers(const Place& place) const override {
    std::vector<Payer> all;
    for (std::uint32_t sequence = 0; sequence < setup_.sequences; ++sequence) {
      for (std::uint32_t i = 0; i < setup_.group; ++i) {
        all.push_back({sequence, place.layer, place.head * setup_.group + i});
      }
    }
    return all;
  }
};

struct FirstHeadOnly final : OtherPayers {
  [[nodiscard]] std::vector<Payer> payers(const Place& place) const override {
    return {{place.sequence, place.layer, place.head * setup_.group}};
  }
};

struct HeadsMixedUp final : OtherPayers {
  // Query head h is taken for one of kv-head h % kv_heads instead of h / group.
  [[nodiscard]] std::vector<Payer> payers(const Place& place) const override {
    std::vector<Payer> all;
    for (std::uint32_t i = 0; i < setup_.group; ++i) {
      all.push_back({place.sequence, place.layer, i * setup_.kv_heads + place.head});
    }
    return all;
  }
};

struct FirstSequenceDecides final : ScoredWrong {
  std::size_t victim(CacheUnit& unit, const Choice& choice, Draws& draws) override {
    const std::size_t units = state_.units.size() / setup_.sequences;
    const CacheUnit& first = state_.units[index_of(unit) % units];
    if (&first == &unit) return ScoredWrong::victim(unit, choice, draws);
    for (std::size_t i = 0; i < choice.rows.size(); ++i) {
      const auto kept = std::ranges::find(first.rows, choice.rows[i]->token, &StoredRow::token);
      if (kept == first.rows.end() || kept->evicted) return i;
    }
    return 0;
  }
};

struct FirstLayerPrunes final : ScoredWrong {
  std::size_t victim(CacheUnit& unit, const Choice& choice, Draws& draws) override {
    return layer_of(unit) > 0 ? 0 : ScoredWrong::victim(unit, choice, draws);
  }

  static void declare(Contract&) {}
};

struct MaskOfFirstLayer final : ScoredWrong {
  Mask mask_row(const CacheUnit& unit, const Query& query) override {
    Mask mask = ScoredWrong::mask_row(unit, query);
    masks_.resize(std::max(masks_.size(), query.chunk.size()));
    if (layer_of(unit) == 0) masks_[query.index] = mask;
    Mask first = masks_[query.index];
    first.resize(query.returned.size(), 1);
    return first;
  }

  std::vector<Mask> masks_;
};

struct HeadStride final : Wrong {
  // Blocks of the next head are written over this head's last row of each four.
  StoredVectors make_vectors(Token token, std::size_t head, double position) override {
    const bool crosses = token.position % 4 == 3 && place_of(head).head + 1 < setup_.kv_heads;
    return Wrong::make_vectors(token, head + (crosses ? 1 : 0), position);
  }
};

struct FirstSequencesPrefix final : Wrong {
  // The first token is written for sequence 0 and taken for the prefix of all.
  StoredVectors make_vectors(Token token, std::size_t head, double position) override {
    const std::size_t in_sequence = heads_.count() / setup_.sequences;
    return Wrong::make_vectors(token, token.position == 0 ? head % in_sequence : head, position);
  }
};

struct UnitPerQueryHead final : Wrong {
  [[nodiscard]] Facts repeated(const Facts& facts) const {
    Facts all;
    for (const UnitFacts& unit : facts.units) {
      for (std::uint32_t i = 0; i < setup_.group; ++i) all.units.push_back(unit);
    }
    return all;
  }

  Answer<Facts> feed(const Feed& feed) override {
    auto answer = Wrong::feed(feed);
    if (auto* const facts = std::get_if<Facts>(&answer)) *facts = repeated(*facts);
    return answer;
  }

  Facts look() override { return repeated(Wrong::look()); }
};

struct LaterLayersKeepLess final : Wrong {
  void after_chunk(CacheUnit& unit) override {
    Wrong::after_chunk(unit);
    if (layer_of(unit) == 0 || unit.rows.size() < contract_.budget) return;
    drop(unit, [&, first = true](const StoredRow& row) mutable {
      return !is_sink(row) && std::exchange(first, false);
    });
  }
};

struct LayersSwapped final : Wrong {
  // Keys of the last two layers are stored in each other's cache.
  StoredVectors make_vectors(Token token, std::size_t head, double position) override {
    StoredVectors vectors = Wrong::make_vectors(token, head, position);
    const std::uint32_t layer = place_of(head).layer;
    if (setup_.layers < 2 || layer + 2 < setup_.layers) return vectors;
    const std::size_t other =
        layer + 1 == setup_.layers ? head - setup_.kv_heads : head + setup_.kv_heads;
    vectors.key = Wrong::make_vectors(token, other, position).key;
    return vectors;
  }
};

// Of every pair of the middle the older is kept, whatever the layer: only a specification says on
// which rung of a ladder a layer stands.
struct LadderLiesFlat final : Wrong {
  static TaggedOptions options() { return {.policy = "random"}; }

  static void declare(Contract& contract) {
    contract.reference.replace(0, contract.reference.find(':'), "ladder");
    contract.claims = {"constant-size", "chunk-invariant", "deterministic"};
    contract.random = false;
  }

  std::size_t victim(CacheUnit& unit, const Choice& choice, Draws&) override {
    unit.notes.resize(1);
    double& pair = unit.notes[0];
    if (pair + 2 > static_cast<double>(choice.rows.size())) pair = 0;
    pair += 1;
    return static_cast<std::size_t>(pair);
  }
};

}  // namespace

std::vector<Mutant> layer_mutants() {
  return {
      {"scores-summed-over-heads", "heads are promised residents of their own and vote together",
       "notes of a StreamingLLM port, H2O with sinks", of<HeadsSummed>},
      {"scores-summed-over-the-batch", "what one sequence keeps depends on the others",
       "H2O, mask simulation", of<BatchSummed>},
      {"first-head-votes-for-its-group", "one query head's scores stand for the group",
       "SnapKV issue 16; H2O issue 32", of<FirstHeadOnly>},
      {"heads-grouped-by-remainder", "query heads are dealt to kv-heads in turn",
       "made, after H2O issue 32", of<HeadsMixedUp>},
      {"first-sequence-decides", "what sequence 0 evicts is evicted from every sequence",
       "VeloxQuant-MLX pull request 90", of<FirstSequenceDecides>},
      {"first-layer-prunes-the-scores",
       "layer 0 uses up the scores, later layers fall back to recency",
       "notes of a StreamingLLM port, POS-aware", of<FirstLayerPrunes>},
      {"one-mask-for-all-layers", "all layers get the mask of layer 0",
       "transformers issue 35168; KVCache-Factory issue 6", of<MaskOfFirstLayer>},
      {"blocks-land-in-the-previous-head", "a writer walks over a head's end with the wrong stride",
       "tt-metal pull request 54742", of<HeadStride>},
      {"prefix-of-another-sequence", "every sequence holds the first token's row of sequence 0",
       "made, after prefix reuse", of<FirstSequencesPrefix>},
      {"a-cache-per-query-head", "keys are repeated to query heads before they are stored",
       "SnapKV issue 16; HeadKV issue 3", of<UnitPerQueryHead>},
      {"later-layers-keep-less", "budgets of the layers do not add up to what is declared",
       "PyramidKV, its floors", of<LaterLayersKeepLess>},
      {"ladder-lies-flat", "all layers of a ladder keep the same tokens", "made, after LaCache",
       of<LadderLiesFlat>},
      {"keys-of-another-layer", "keys lie in the neighbouring layer's cache", "made",
       of<LayersSwapped>},
  };
}

}  // namespace kv::properties
