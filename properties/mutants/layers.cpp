// Layers, heads and sequences that do not keep apart.
#include "kvcheck/properties/mutants/wrong.h"

namespace kv::properties {
namespace {

using Mask = std::vector<std::uint8_t>;
using Rows = std::vector<std::size_t>;

class Scored : public Wrong {
 public:
  using Wrong::Wrong;

  static PlainOptions options() { return {.policy = PlainPolicy::h2o}; }

 protected:
  // The mean of what the payers of these units find of the rows.
  [[nodiscard]] std::vector<float> mean_of(const PlainGroup& group,
                                           const Feed& feed,
                                           std::size_t query,
                                           const Rows& visible,
                                           const std::vector<Payer>& payers) const {
    std::vector<Token> keys;
    for (const std::size_t row : visible) keys.push_back(group.rows[row].token);
    std::vector<float> mean(keys.size());
    std::vector<float> mass(keys.size());
    for (const Payer& payer : payers) {
      visible_mass(feed.stream, payer, feed.tokens[query], keys, mass);
      for (std::size_t i = 0; i < mass.size(); ++i) {
        mean[i] += mass[i] / static_cast<float>(payers.size());
      }
    }
    return mean;
  }
};

// Scores come from the payers that payers() names instead of the group's own.
class OtherPayers : public Scored {
 public:
  using Scored::Scored;

 protected:
  [[nodiscard]] virtual std::vector<Payer> payers(const Place& place) const = 0;

  std::vector<float> weigh(const PlainGroup& group,
                           const Feed& feed,
                           std::size_t query,
                           const Rows& visible,
                           std::vector<std::vector<float>>& per_unit) override {
    (void)Scored::weigh(group, feed, query, visible, per_unit);
    return mean_of(group, feed, query, visible, payers(place_of(first_unit(group))));
  }
};

class HeadsSummed final : public OtherPayers {
  using OtherPayers::OtherPayers;

  [[nodiscard]] std::vector<Payer> payers(const Place& place) const override {
    std::vector<Payer> all;
    for (std::uint32_t head = 0; head < setup_.query_heads(); ++head) {
      all.push_back({place.sequence, place.layer, head});
    }
    return all;
  }
};

class BatchSummed final : public OtherPayers {
  using OtherPayers::OtherPayers;

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

class FirstHeadOnly final : public OtherPayers {
  using OtherPayers::OtherPayers;

  [[nodiscard]] std::vector<Payer> payers(const Place& place) const override {
    return {{place.sequence, place.layer, place.head * setup_.group}};
  }
};

class HeadsMixedUp final : public OtherPayers {
  using OtherPayers::OtherPayers;

  // Query head h is taken for one of kv-head h % kv_heads instead of h / group.
  [[nodiscard]] std::vector<Payer> payers(const Place& place) const override {
    std::vector<Payer> all;
    for (std::uint32_t i = 0; i < setup_.group; ++i) {
      all.push_back({place.sequence, place.layer, i * setup_.kv_heads + place.head});
    }
    return all;
  }
};

class FirstSequenceDecides final : public Scored {
  using Scored::Scored;

  std::size_t victim(PlainGroup& group,
                     const Rows& candidates,
                     std::size_t k,
                     Draws& draws) override {
    const std::size_t groups = state_.groups.size() / setup_.sequences;
    const PlainGroup& first = state_.groups[index_of(group) % groups];
    if (&first == &group) return Scored::victim(group, candidates, k, draws);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const auto kept =
          std::ranges::find(first.rows, group.rows[candidates[i]].token, &PlainRow::token);
      if (kept == first.rows.end() || kept->gone) return i;
    }
    return 0;
  }
};

class FirstLayerPrunes final : public Scored {
  using Scored::Scored;

  std::size_t victim(PlainGroup& group,
                     const Rows& candidates,
                     std::size_t k,
                     Draws& draws) override {
    return layer_of(group) > 0 ? 0 : Scored::victim(group, candidates, k, draws);
  }

 public:
  static void declare(Contract&) {}
};

class MaskOfFirstLayer final : public Scored {
  using Scored::Scored;

  Mask mask_row(const PlainGroup& group,
                const Rows& returned,
                std::span<const Token> chunk,
                std::size_t query) override {
    Mask mask = Scored::mask_row(group, returned, chunk, query);
    masks_.resize(std::max(masks_.size(), chunk.size()));
    if (layer_of(group) == 0) masks_[query] = mask;
    Mask first = masks_[query];
    first.resize(returned.size(), 1);
    return first;
  }

  std::vector<Mask> masks_;
};

class HeadStride final : public Wrong {
  using Wrong::Wrong;

  // Blocks of the next head are written over this head's last row of each four.
  PlainCell make_cell(Token token, std::size_t unit, double position) override {
    const bool crosses = token.position % 4 == 3 && place_of(unit).head + 1 < setup_.kv_heads;
    return Wrong::make_cell(token, unit + (crosses ? 1 : 0), position);
  }
};

class FirstSequencesPrefix final : public Wrong {
  using Wrong::Wrong;

  // The first token is written for sequence 0 and taken for the prefix of all.
  PlainCell make_cell(Token token, std::size_t unit, double position) override {
    const std::size_t in_sequence = units() / setup_.sequences;
    return Wrong::make_cell(token, token.position == 0 ? unit % in_sequence : unit, position);
  }
};

class UnitPerQueryHead final : public Wrong {
  using Wrong::Wrong;

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

class LaterLayersKeepLess final : public Wrong {
 public:
  using Wrong::Wrong;

 private:
  void after_chunk(PlainGroup& group) override {
    Wrong::after_chunk(group);
    if (layer_of(group) == 0 || group.rows.size() < contract_.budget) return;
    drop(group, [&, first = true](const PlainRow& row) mutable {
      return !is_sink(row) && std::exchange(first, false);
    });
  }
};

class LayersSwapped final : public Wrong {
 public:
  using Wrong::Wrong;

 private:
  // Keys of the last two layers go into each other's cache.
  PlainCell make_cell(Token token, std::size_t unit, double position) override {
    PlainCell cell = Wrong::make_cell(token, unit, position);
    const std::uint32_t layer = place_of(unit).layer;
    if (setup_.layers < 2 || layer + 2 < setup_.layers) return cell;
    const std::size_t other =
        layer + 1 == setup_.layers ? unit - setup_.kv_heads : unit + setup_.kv_heads;
    cell.key = Wrong::make_cell(token, other, position).key;
    return cell;
  }
};

// Of every pair of the middle the older stays, whatever the layer: which rung of a ladder a layer
// stands on, only a specification tells.
class LadderLiesFlat final : public Wrong {
 public:
  using Wrong::Wrong;

  static PlainOptions options() { return {.policy = PlainPolicy::random}; }

  static void declare(Contract& contract) {
    contract.reference.replace(0, contract.reference.find(':'), "ladder");
    contract.claims = {"constant-size", "chunk-invariant", "deterministic"};
    contract.random = false;
  }

 private:
  std::size_t victim(PlainGroup& group, const Rows& candidates, std::size_t, Draws&) override {
    group.notes.resize(1);
    double& pair = group.notes[0];
    if (pair + 2 > static_cast<double>(candidates.size())) pair = 0;
    pair += 1;
    return static_cast<std::size_t>(pair);
  }
};

}  // namespace

std::vector<Mutant> layer_mutants() {
  return {
      mutant<HeadsSummed>("scores-summed-over-heads",
                          "heads are promised residents of their own and vote together",
                          "notes of a StreamingLLM port, H2O with sinks"),
      mutant<BatchSummed>("scores-summed-over-the-batch",
                          "what one sequence keeps depends on the others", "H2O, mask simulation"),
      mutant<FirstHeadOnly>("first-head-votes-for-its-group",
                            "one query head's scores stand for the group",
                            "SnapKV issue 16; H2O issue 32"),
      mutant<HeadsMixedUp>("heads-grouped-by-remainder",
                           "query heads are dealt to kv-heads in turn", "made, after H2O issue 32"),
      mutant<FirstSequenceDecides>("first-sequence-decides",
                                   "what sequence 0 evicts goes from every sequence",
                                   "VeloxQuant-MLX pull request 90"),
      mutant<FirstLayerPrunes>("first-layer-prunes-the-scores",
                               "layer 0 uses up the scores, later layers fall back to recency",
                               "notes of a StreamingLLM port, POS-aware"),
      mutant<MaskOfFirstLayer>("one-mask-for-all-layers", "all layers get the mask of layer 0",
                               "transformers issue 35168; KVCache-Factory issue 6"),
      mutant<HeadStride>("blocks-land-in-the-previous-head",
                         "a writer walks over a head's end with the wrong stride",
                         "tt-metal pull request 54742"),
      mutant<FirstSequencesPrefix>("prefix-of-another-sequence",
                                   "every sequence holds the first token's row of sequence 0",
                                   "made, after prefix reuse"),
      mutant<UnitPerQueryHead>("a-cache-per-query-head",
                               "keys are repeated to query heads before they are stored",
                               "SnapKV issue 16; HeadKV issue 3"),
      mutant<LaterLayersKeepLess>("later-layers-keep-less",
                                  "budgets of the layers do not add up to what is declared",
                                  "PyramidKV, its floors"),
      mutant<LadderLiesFlat>("ladder-lies-flat", "all layers of a ladder keep the same tokens",
                             "made, after LaCache"),
      mutant<LayersSwapped>("keys-of-another-layer", "keys lie in the neighbouring layer's cache",
                            "made"),
  };
}

}  // namespace kv::properties
