// Caches that tell the wrong bytes, that promise newcomers a place, or whose past slides.
#include "kvcheck/properties/mutants/wrong.h"

namespace kv::properties {
namespace {

class BytesOfTheStream final : public Wrong {
 public:
  using Wrong::Wrong;

  Answer<Facts> feed(const Feed& feed) override {
    auto answer = Wrong::feed(feed);
    if (auto* facts = std::get_if<Facts>(&answer)) {
      for (UnitFacts& unit : facts->units) unit.bytes = 64 * state_.fed;
    }
    return answer;
  }
};

class RefusesNewcomers final : public Wrong {
 public:
  using Wrong::Wrong;

  static PlainOptions options() {
    return {.policy = PlainPolicy::random, .visibility = Visibility::causal};
  }

 private:
  std::size_t victim(PlainGroup&, const std::vector<std::size_t>&, std::size_t k, Draws&) override {
    return k;
  }
};

class PastSlides final : public Wrong {
 public:
  using Wrong::Wrong;

  static PlainOptions options() { return {.visibility = Visibility::causal}; }

 private:
  std::vector<std::uint8_t> mask_row(const PlainGroup& group,
                                     const std::vector<std::size_t>& returned,
                                     std::span<const Token> chunk,
                                     std::size_t query) override {
    auto mask = Wrong::mask_row(group, returned, chunk, query);
    const std::size_t own = returned.size() - chunk.size() + query;
    for (std::size_t column = 0; column + contract_.budget < own; ++column) mask[column] = 0;
    return mask;
  }
};

}  // namespace

std::vector<Mutant> bookkeeping_mutants() {
  return {
      mutant<BytesOfTheStream>("bytes-of-the-stream", "bytes are told for all tokens ever fed",
                               "made"),
      mutant<RefusesNewcomers>("refuses-newcomers",
                               "the newcomer goes itself, though it is promised a place",
                               "VeloxQuant-MLX issue 137"),
      mutant<PastSlides>("past-slides-within-a-chunk",
                         "a band over stored columns pushes sinks out within a chunk",
                         "mlx-lm RotatingKVCache with keep"),
  };
}

}  // namespace kv::properties
