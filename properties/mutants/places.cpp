// Faults that begin at a later head, layer or sequence than most caches are tried with.
#include "kvcheck/properties/cases/payload.h"
#include "kvcheck/properties/mutants/wrong.h"

namespace kv::properties {
namespace {

// Which field of a place is read modulo a number, as if there were no more of them.
template <std::uint32_t Place::*field, std::uint32_t from>
Place aliased(Place place) {
  if (place.*field >= from) place.*field -= from;
  return place;
}

// The vectors of a later head, layer or sequence are those of an early one.
template <std::uint32_t Place::*field, std::uint32_t from>
struct HoldsAnothers final : Wrong {
  StoredVectors make_vectors(Token token, std::size_t head, double position) override {
    StoredVectors vectors = Wrong::make_vectors(token, head, position);
    const Place place = aliased<field, from>(place_of(head));
    vectors.key = encode_key(token, place, position, options_.layout);
    vectors.value = encode_value(token, place);
    return vectors;
  }
};

// The same of the attention that decides; the weights that are reported are the right ones.
template <std::uint32_t Place::*field, std::uint32_t from>
struct VotesAsAnother final : ScoredWrong {
  std::vector<float> weigh(const CacheUnit& unit, const Query& query, Masses& per_head) override {
    const std::vector<float> own = ScoredWrong::weigh(unit, query, per_head);
    const Place place = place_of(unit);
    const Place other = aliased<field, from>(place);
    if (other == place) return own;
    return mass_of(unit, query, {other.sequence, other.layer, other.head * setup_.group});
  }
};

struct SixthLayerIsNotTrimmed final : Wrong {
  void after_chunk(CacheUnit& unit) override {
    if (layer_of(unit) % 6 != 5) Wrong::after_chunk(unit);
  }
};

struct SixthLayerForgetsASink final : Wrong {
  bool may_see(const CacheUnit& unit, const StoredRow& row, Token query) override {
    const bool hidden = layer_of(unit) % 6 == 5 && row.token.position == 0 && query.position > 0;
    return !hidden && Wrong::may_see(unit, row, query);
  }
};

}  // namespace

std::vector<Mutant> place_mutants() {
  constexpr std::string_view strides = "made, after strides that hold for four heads";
  return {
      {"head-4-aliases-head-0", "head 4 and those behind it hold the rows of head 0 and the next",
       strides, of<HoldsAnothers<&Place::head, 4>>},
      {"head-4-votes-as-head-0", "from head 4 on the attention of head 0 and the next decides",
       strides, of<VotesAsAnother<&Place::head, 4>>},
      {"head-8-votes-as-head-0", "from head 8 on the attention of head 0 and the next decides",
       "made", of<VotesAsAnother<&Place::head, 8>>},
      {"sequence-4-aliases-sequence-0", "sequence 4 holds the rows of sequence 0", "made",
       of<HoldsAnothers<&Place::sequence, 4>>},
      {"sequence-4-votes-as-sequence-0", "from sequence 4 on another sequence decides", "made",
       of<VotesAsAnother<&Place::sequence, 4>>},
      {"sequence-8-votes-as-sequence-0", "from sequence 8 on another sequence decides", "made",
       of<VotesAsAnother<&Place::sequence, 8>>},
      {"layer-8-votes-as-layer-0", "from layer 8 on another layer decides", "made",
       of<VotesAsAnother<&Place::layer, 8>>},
      {"every-sixth-layer-is-not-trimmed", "layers 5 and 11 keep everything",
       "made, after models that mix windows and full attention in sixths",
       of<SixthLayerIsNotTrimmed>},
      {"every-sixth-layer-forgets-a-sink", "layers 5 and 11 hide the first token", "made",
       of<SixthLayerForgetsASink>},
  };
}

}  // namespace kv::properties
