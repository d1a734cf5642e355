// Keys and queries at wrong rotary positions.
#include "kvcheck/properties/mutants/wrong.h"

namespace kv::properties {
namespace {

using Rows = std::vector<std::size_t>;

// The query stands where its own key does, wherever that is.
class OwnPosition : public Wrong {
  using Wrong::Wrong;

 protected:
  double query_position(const PlainGroup& group, Token query, const Rows&) override {
    const auto own = std::ranges::find(group.rows, query, &PlainRow::token);
    return own == group.rows.end() ? not_reported : own->position;
  }
};

class PhysicalLength final : public OwnPosition {
 public:
  using OwnPosition::OwnPosition;

 private:
  double append_position(const PlainGroup& group, Token) override {
    return static_cast<double>(group.rows.size());
  }
};

class RestartsEachChunk final : public OwnPosition {
 public:
  using OwnPosition::OwnPosition;

 private:
  double append_position(const PlainGroup&, Token token) override {
    return token.position - static_cast<double>(chunk_begin());
  }
};

class OffsetCountedTwice final : public OwnPosition {
 public:
  using OwnPosition::OwnPosition;

 private:
  double append_position(const PlainGroup&, Token token) override {
    const double within = token.position - static_cast<double>(chunk_begin());
    return token.position + (chunk_begin() > 0 ? within : 0);
  }
};

class ModuloPosition final : public OwnPosition {
 public:
  using OwnPosition::OwnPosition;

 private:
  double append_position(const PlainGroup&, Token token) override {
    return token.position % static_cast<std::int32_t>(2 * contract_.budget);
  }
};

class QueryOneOff final : public Wrong {
  using Wrong::Wrong;

  double query_position(const PlainGroup&, Token query, const Rows&) override {
    return query.position + 1;
  }
};

class InCacheQuery final : public Wrong {
  using Wrong::Wrong;

  double query_position(const PlainGroup&, Token, const Rows& visible) override {
    return static_cast<double>(visible.size()) - 1;
  }
};

class StreamQuery final : public Wrong {
 public:
  using Wrong::Wrong;

  static PlainOptions options() { return {.positions = PositionMode::in_cache}; }

 private:
  double query_position(const PlainGroup&, Token query, const Rows&) override {
    return query.position;
  }
};

class RanksOfTheStored final : public Wrong {
 public:
  using Wrong::Wrong;

  static PlainOptions options() {
    return {.timing = Timing::lazy, .slack = 4, .positions = PositionMode::in_cache};
  }

 private:
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

class RestartsAfterRollback final : public OwnPosition {
 public:
  using OwnPosition::OwnPosition;

  static PlainOptions options() { return {.rollback = any_depth}; }

 private:
  void roll_back(std::uint64_t length) override {
    OwnPosition::roll_back(length);
    for (PlainGroup& group : state_.groups) {
      if (layer_of(group) > 0 || setup_.layers == 1) group.notes = {1};
    }
  }

  double append_position(const PlainGroup& group, Token token) override {
    if (group.notes.empty()) return token.position;
    return static_cast<double>(group.rows.size());
  }
};

class SecondLayerOneOff final : public OwnPosition {
 public:
  using OwnPosition::OwnPosition;

 private:
  // The layers share a counter that the first one has already moved on.
  double append_position(const PlainGroup& group, Token token) override {
    return token.position + (layer_of(group) > 0 ? static_cast<double>(chunk_) : 0.0);
  }
};

}  // namespace

std::vector<Mutant> position_mutants() {
  return {
      mutant<PhysicalLength>("physical-length-as-position",
                             "a new key is rotated for the number of rows stored, not its index",
                             "notes of a StreamingLLM port, bug 4; VeloxQuant-MLX issue 171"),
      mutant<RestartsEachChunk>("positions-restart-each-chunk", "each chunk's positions begin at 0",
                                "VeloxQuant-MLX issue 175"),
      mutant<OffsetCountedTwice>("chunk-offset-counted-twice",
                                 "the index has moved on already and the loop adds to it again",
                                 "mlx-node pull request 33"),
      mutant<ModuloPosition>("position-modulo-ring", "positions wrap with the ring",
                             "made, after ring buffers that rotate by slot"),
      mutant<QueryOneOff>("query-one-position-on", "the query stands one position too far", "made"),
      mutant<InCacheQuery>("absolute-keys-in-cache-query",
                           "keys keep their index, the query counts the rows",
                           "VeloxQuant-MLX issue 609"),
      mutant<StreamQuery>("in-cache-keys-absolute-query",
                          "keys count as ranks, the query as its index in the stream",
                          "streaming-llm issue 74"),
      mutant<RanksOfTheStored>("ranks-count-hidden-rows",
                               "ranks count rows that the query does not see", "made"),
      mutant<RestartsAfterRollback>("position-from-one-store-after-rollback",
                                    "after a rollback the next position is read from a store that "
                                    "holds fewer rows",
                                    "llama.cpp issue 29045; llama.rn issue 396"),
      mutant<SecondLayerOneOff>("later-layers-a-chunk-ahead",
                                "later layers read the position that the first has moved on",
                                "made"),
  };
}

}  // namespace kv::properties
