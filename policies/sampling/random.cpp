#include "kvcheck/policies/sampling/random.h"

#include <array>
#include <string_view>

#include "kvcheck/policies/parts/one_by_one.h"
#include "kvcheck/policies/policy.h"

namespace kv {
namespace {

class Random final : public OneByOne {
 public:
  [[nodiscard]] std::unique_ptr<Policy> clone() const override {
    return std::make_unique<Random>(*this);
  }

 protected:
  std::size_t select(const Candidates& candidates, Draws& draws) override {
    // Below the capacity are the older tokens; the newcomer itself is never drawn.
    return draws.below(candidates.capacity, candidates.positions.back(), 0);
  }
};

constexpr auto claims = std::array<std::string_view, 4>{"constant-size", "chunk-invariant",
                                                        "age-geometric", "admits-newcomers"};

}  // namespace

std::unique_ptr<Policy> make_random() {
  return std::make_unique<Random>();
}

PolicyEntry random_policy() {
  return {.name = "random",
          .summary = "Admits every token to the middle, in place of a random older one.",
          .protection = {.sinks = 4},
          .parameters = {},
          .claims = claims,
          .source = "code AnswerDotAI/cold-compress, cache.py, class KVCacheRandom",
          .differs =
              "Draws are keyed by the newcomer's position; the source has one global generator. In "
              "both, a token survives a decisions with probability (1 - 1/k)^a.",
          .cost = "O(1) time and one draw a token; no state",
          .make = [](const Options&) { return make_random(); }};
}

}  // namespace kv
