#include "kvcheck/policies/attention/kvzip.h"

#include <array>
#include <string_view>

#include "kvcheck/base/check.h"
#include "kvcheck/policies/parts/last_mass.h"

namespace kv {
namespace {

class Kvzip final : public LastMass {
 public:
  explicit Kvzip(std::size_t pass) : pass_(pass) { KV_CHECK(pass >= 1); }

  [[nodiscard]] Needs needs() const override {
    return {.attention = true, .reconstruction = pass_};
  }

  [[nodiscard]] std::unique_ptr<Policy> clone() const override {
    return std::make_unique<Kvzip>(*this);
  }

 private:
  std::size_t pass_;
};

constexpr auto claims =
    std::array<std::string_view, 3>{"constant-size", "deterministic", "score-driven"};

constexpr auto parameters = std::array<Parameter, 1>{{
    {.name = "pass",
     .default_value = "2000",
     .meaning = "how many tokens of the prompt the model repeats in one pass",
     .range = counts(1, 1U << 24U)},
}};

}  // namespace

std::unique_ptr<Policy> make_kvzip(std::size_t pass) {
  return std::make_unique<Kvzip>(pass);
}

PolicyEntry kvzip_policy() {
  return {
      .name = "kvzip",
      .summary = "Keeps the tokens to which the model attends most while it repeats its prompt.",
      .protection = {.recent_percent = 0},
      .parameters = parameters,
      .claims = claims,
      .source =
          "Kim et al., \"KVzip: Query-Agnostic KV Cache Compression with Context Reconstruction\", "
          "NeurIPS 2025, arXiv:2505.23416, section 3 and algorithm 1; code snu-mllab/KVzip, "
          "attention/score.py and model/wrapper.py; NVIDIA/kvpress, KVzipPress",
      .differs =
          "It needs a model and compress=prompt or compress=question. As in the code, a pass "
          "repeats 2,000 tokens after a request and the 8 tokens before them, and the softmax is "
          "over the sinks, the rows that are repeated and the pass's own. The request has other "
          "words, the same in every pass, and no template of a chat around it; a tokenizer without "
          "these words has no request. The protected sinks stand for the system prompt and are not "
          "repeated. In the source the heads of all layers compete for the budget; here those of a "
          "layer may (budgets=adaptive:0). Of equal scores the older token is evicted.",
      .cost =
          "one more reading of the prompt by the model, with a second copy of its rows; 4 bytes "
          "per resident",
      .make = [](const Options& options) { return make_kvzip(options.count("pass")); }};
}

}  // namespace kv
