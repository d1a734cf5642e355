#include "kvcheck/policies/attention/tova.h"

#include <array>
#include <string_view>

#include "kvcheck/policies/parts/last_mass.h"

namespace kv {
namespace {

class Tova final : public LastMass {
 public:
  [[nodiscard]] Needs needs() const override { return {.attention = true, .last_queries = 1}; }

  [[nodiscard]] std::unique_ptr<Policy> clone() const override {
    return std::make_unique<Tova>(*this);
  }
};

// Not independent of chunking: a trim uses only the last query, and chunks determine when it comes.
constexpr auto claims =
    std::array<std::string_view, 3>{"constant-size", "deterministic", "score-driven"};

}  // namespace

std::unique_ptr<Policy> make_tova() {
  return std::make_unique<Tova>();
}

PolicyEntry tova_policy() {
  return {.name = "tova",
          .summary = "Evicts the tokens to which the last query paid the least attention.",
          .protection = {.recent_percent = 0},
          .parameters = {},
          .claims = claims,
          .source =
              "Oren et al., \"Transformers are Multi-State RNNs\", arXiv:2401.06104, the policy "
              "TOVA; code schwartz-lab-NLP/TOVA, src/tova_cache.py",
          .differs =
              "In the paper all heads of a layer share their residents, which is unit=layer here "
              "(preset @tova). Of equal scores the older token is evicted.",
          .cost = "O(residents) time a query; 4 bytes per resident",
          .make = [](const Options&) { return make_tova(); }};
}

}  // namespace kv
