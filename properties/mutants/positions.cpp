// Keys and queries at wrong rotary positions.
#include "kvcheck/properties/mutants/wrong.h"

namespace kv::properties {
namespace {

// The query stands where its own key does, wherever that is.
struct OwnPosition : Wrong {
  double query_position(const CacheUnit& unit, Token query, const Rows&) override {
    return own_position(unit, query);
  }
};

struct PhysicalLength final : OwnPosition {
  double append_position(const CacheUnit& unit, Token) override {
    return static_cast<double>(unit.rows.size());
  }
};

struct RestartsEachChunk final : OwnPosition {
  double append_position(const CacheUnit&, Token token) override {
    return token.position - static_cast<double>(chunk_begin());
  }
};

struct OffsetCountedTwice final : OwnPosition {
  double append_position(const CacheUnit&, Token token) override {
    const double within = token.position - static_cast<double>(chunk_begin());
    return token.position + (chunk_begin() > 0 ? within : 0);
  }
};

struct ModuloPosition final : OwnPosition {
  double append_position(const CacheUnit&, Token token) override {
    return token.position % static_cast<std::int32_t>(2 * contract_.budget);
  }
};

struct QueryOneOff final : Wrong {
  double query_position(const CacheUnit&, Token query, const Rows&) override {
    return query.position + 1;
  }
};

struct InCacheQuery final : Wrong {
  double query_position(const CacheUnit&, Token, const Rows& visible) override {
    return static_cast<double>(visible.size()) - 1;
  }
};

struct StreamQuery final : Wrong {
  static TaggedOptions options() { return {.positions = PositionMode::in_cache}; }

  double query_position(const CacheUnit&, Token query, const Rows&) override {
    return query.position;
  }
};

struct RanksOfTheStored final : Wrong {
  static TaggedOptions options() {
    return {.timing = Timing::lazy, .slack = 4, .positions = PositionMode::in_cache};
  }

  std::vector<double> key_positions(const Rows& returned, const Rows& visible) override {
    std::vector<double> keys = Wrong::key_positions(returned, visible);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (std::ranges::find(visible, returned[i]) != visible.end()) {
        keys[i] = static_cast<double>(i);
      }
    }
    return keys;
  }
};

struct RestartsAfterRollback final : OwnPosition {
  static TaggedOptions options() { return {.rollback = any_depth}; }

  void roll_back(std::uint64_t length) override {
    OwnPosition::roll_back(length);
    for (CacheUnit& unit : state_.units) {
      if (layer_of(unit) > 0 || setup_.layers == 1) unit.notes = {1};
    }
  }

  double append_position(const CacheUnit& unit, Token token) override {
    if (unit.notes.empty()) return token.position;
    return static_cast<double>(unit.rows.size());
  }
};

struct SecondLayerOneOff final : OwnPosition {
  // The layers share a counter that the first one has already moved on.
  double append_position(const CacheUnit& unit, Token token) override {
    return token.position + (layer_of(unit) > 0 ? static_cast<double>(chunk_) : 0.0);
  }
};

}  // namespace

std::vector<Mutant> position_mutants() {
  return {
      {"physical-length-as-position",
       "a new key is rotated for the number of rows stored, not its index",
       "notes of a StreamingLLM port, bug 4; VeloxQuant-MLX issue 171", of<PhysicalLength>},
      {"positions-restart-each-chunk", "each chunk's positions begin at 0",
       "VeloxQuant-MLX issue 175", of<RestartsEachChunk>},
      {"chunk-offset-counted-twice", "the index has moved on already and the loop adds to it again",
       "mlx-node pull request 33", of<OffsetCountedTwice>},
      {"position-modulo-ring", "positions wrap with the ring",
       "made, after ring buffers that rotate by slot", of<ModuloPosition>},
      {"query-one-position-on", "the query stands one position too far", "made", of<QueryOneOff>},
      {"absolute-keys-in-cache-query", "keys keep their index, the query counts the rows",
       "VeloxQuant-MLX issue 609", of<InCacheQuery>},
      {"in-cache-keys-absolute-query", "keys count as ranks, the query as its index in the stream",
       "streaming-llm issue 74", of<StreamQuery>},
      {"ranks-count-hidden-rows", "ranks count rows that the query does not see", "made",
       of<RanksOfTheStored>},
      {"position-from-one-store-after-rollback",
       "after a rollback the next position is read from a store that holds fewer rows",
       "llama.cpp issue 29045; llama.rn issue 396", of<RestartsAfterRollback>},
      {"later-layers-a-chunk-ahead", "later layers read the position that the first has moved on",
       "made", of<SecondLayerOneOff>},
  };
}

}  // namespace kv::properties
