#include "kvcheck/policies/attention/kvzip.h"

#include <array>
#include <string_view>

#include "kvcheck/base/check.h"
#include "kvcheck/policies/parts/by_rank.h"
#include "kvcheck/policies/policy.h"

namespace kv {
namespace {

class Kvzip final : public Policy {
 public:
  explicit Kvzip(std::size_t pass) : pass_(pass) { KV_CHECK(pass >= 1); }

  [[nodiscard]] Needs needs() const override {
    return {.attention = true, .reconstruction = pass_};
  }

  [[nodiscard]] Leaving leaving() const override { return Leaving::in_bulk; }

  void observe(const Observation& observation) override {
    KV_CHECK(observation.mass.size() >= largest_.size());
    largest_.assign(observation.mass.begin(), observation.mass.end());
  }

  void evict(const Candidates& candidates, Draws&, std::vector<std::size_t>& victims) override {
    const std::size_t n = candidates.positions.size();
    append_lowest(scores_of(candidates.first_rank, n), n - candidates.capacity, victims);
  }

  [[nodiscard]] bool scores_compare() const override { return true; }

  std::span<const double> scores(const PooledCandidates& candidates) override {
    const auto largest = scores_of(candidates.first_rank, candidates.positions.size());
    // Floats and their doubles have the same order, so evict() and a shared decision agree.
    scores_.assign(largest.begin(), largest.end());
    return scores_;
  }

  void forget(std::span<const std::size_t> ranks) override { erase_ranks(largest_, ranks); }

  [[nodiscard]] std::unique_ptr<Policy> clone() const override {
    return std::make_unique<Kvzip>(*this);
  }

  void save(ByteWriter& writer) const override { writer.put(largest_); }

  void load(ByteReader& reader) override { reader.get(largest_); }

 private:
  [[nodiscard]] std::span<const float> scores_of(std::size_t first_rank, std::size_t n) const {
    KV_CHECK(first_rank + n <= largest_.size());
    return std::span(largest_).subspan(first_rank, n);
  }

  std::size_t pass_;
  std::vector<float> largest_;  // [residents], by rank, of the last observation
  std::vector<double> scores_;  // scratch
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
