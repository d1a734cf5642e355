// Caches that tell the wrong bytes, that promise newcomers a place, or whose past slides.
#include "kvcheck/properties/mutants/wrong.h"

namespace kv::properties {
namespace {

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

std::vector<Mutant> bookkeeping_mutants() {
  return {
      {"bytes-of-the-stream", "bytes are told for all tokens ever fed", "made",
       of<BytesOfTheStream>},
      {"refuses-newcomers", "the newcomer goes itself, though it is promised a place",
       "VeloxQuant-MLX issue 137", of<RefusesNewcomers>},
      {"past-slides-within-a-chunk", "a band over stored columns pushes sinks out within a chunk",
       "mlx-lm RotatingKVCache with keep", of<PastSlides>},
  };
}

}  // namespace kv::properties
