// Faults in what is declared, reported or answered: wrong bytes, a place that newcomers do not get,
// a past that slides.
#include "kvcheck/properties/mutants/wrong.h"

namespace kv::properties {
namespace {

struct SharesInNameOnly final : ScoredWrong {
  static void declare(Contract& contract) {
    Wrong::declare(contract);
    contract.unit = Unit::layer;
  }
};

struct RefusesHalfway final : Wrong {
  Answer<Done> truncate(std::int64_t length) override {
    Answer<Done> answer = Wrong::truncate(length);
    if (!std::holds_alternative<Refused>(answer)) return answer;
    for (CacheUnit& unit : state_.units) {
      if (!unit.rows.empty()) unit.rows.pop_back();
    }
    return answer;
  }
};

// A sequence that does not exist is taken for the last one.
struct ReorderClamps final : Wrong {
  Answer<Done> reorder(std::span<const std::uint32_t> from) override {
    std::vector<std::uint32_t> known(from.begin(), from.end());
    for (std::uint32_t& sequence : known) sequence = std::min(sequence, setup_.sequences - 1);
    return Wrong::reorder(known);
  }
};

struct BytesOfTheStream final : Wrong {
  Answer<Facts> feed(const Feed& feed) override {
    auto answer = Wrong::feed(feed);
    if (auto* facts = std::get_if<Facts>(&answer)) {
      for (UnitFacts& unit : facts->units) unit.bytes = 64 * state_.fed;
    }
    return answer;
  }
};

struct RefusesNewcomers final : Wrong {
  static TaggedOptions options() { return {.policy = "random", .visibility = Visibility::causal}; }

  std::size_t victim(CacheUnit&, const Choice& choice, Draws&) override { return choice.capacity; }
};

struct PastSlides final : CausalWrong {
  Mask mask_row(const CacheUnit& unit, const Query& query) override {
    auto mask = CausalWrong::mask_row(unit, query);
    const std::size_t own = query.returned.size() - query.chunk.size() + query.index;
    for (std::size_t column = 0; column + contract_.budget < own; ++column) mask[column] = 0;
    return mask;
  }
};

}  // namespace

std::vector<Mutant> promise_mutants() {
  return {
      {"shares-in-name-only", "heads declare to share residents, and each decides alone", "made",
       of<SharesInNameOnly>},
      {"refuses-halfway", "a rollback takes a row away and is then refused", "made",
       of<RefusesHalfway>},
      {"reorder-clamps", "a sequence that does not exist is taken for the last one", "made",
       of<ReorderClamps>},
      {"bytes-of-the-stream", "bytes are reported for all tokens ever fed", "made",
       of<BytesOfTheStream>},
      {"refuses-newcomers", "the newcomer is evicted itself, though it is promised a place",
       "VeloxQuant-MLX issue 137", of<RefusesNewcomers>},
      {"past-slides-within-a-chunk", "a band over stored columns pushes sinks out within a chunk",
       "mlx-lm RotatingKVCache with keep", of<PastSlides>},
  };
}

}  // namespace kv::properties
