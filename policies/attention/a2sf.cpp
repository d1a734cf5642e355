#include "kvcheck/policies/attention/a2sf.h"

#include <array>
#include <string_view>

#include "kvcheck/base/check.h"
#include "kvcheck/policies/parts/by_rank.h"
#include "kvcheck/policies/policy.h"

namespace kv {
namespace {

class A2sf final : public Policy {
 public:
  explicit A2sf(double factor) : factor_(factor) { KV_CHECK(factor >= 0 && factor <= 1); }

  [[nodiscard]] Needs needs() const override { return {.attention = true}; }

  [[nodiscard]] Leaving leaving() const override { return Leaving::in_bulk; }

  void observe(const Observation& observation) override {
    KV_CHECK(observation.mass.size() >= gathered_.size());
    gathered_.resize(observation.mass.size());
    for (double& score : gathered_) score *= factor_;
    add_mass(gathered_, observation.mass);
  }

  void evict(const Candidates& candidates, Draws&, std::vector<std::size_t>& victims) override {
    const std::size_t n = candidates.positions.size();
    append_lowest(scores_of(candidates.first_rank, n), n - candidates.capacity, victims);
  }

  [[nodiscard]] bool scores_compare() const override { return true; }

  std::span<const double> scores(const PooledCandidates& candidates) override {
    return scores_of(candidates.first_rank, candidates.positions.size());
  }

  void forget(std::span<const std::size_t> ranks) override { erase_ranks(gathered_, ranks); }

  [[nodiscard]] std::unique_ptr<Policy> clone() const override {
    return std::make_unique<A2sf>(*this);
  }

  void save(ByteWriter& writer) const override { writer.put(gathered_); }

  void load(ByteReader& reader) override { reader.get(gathered_); }

 private:
  [[nodiscard]] std::span<const double> scores_of(std::size_t first_rank, std::size_t n) const {
    KV_CHECK(first_rank + n <= gathered_.size());
    return std::span(gathered_).subspan(first_rank, n);
  }

  double factor_;
  std::vector<double> gathered_;  // [residents], by rank
};

constexpr auto claims =
    std::array<std::string_view, 4>{"constant-size", "deterministic", "score-driven", "ageing"};

constexpr auto parameters = std::array<Parameter, 1>{{
    {.name = "factor",
     .default_value = "0.95",
     .meaning = "how much a query counts, relative to the next one",
     .range = reals(0, 1)},
}};

}  // namespace

std::unique_ptr<Policy> make_a2sf(double factor) {
  return std::make_unique<A2sf>(factor);
}

PolicyEntry a2sf_policy() {
  return {.name = "a2sf",
          .summary = "Keeps the tokens with the most attention, of which old queries count less.",
          .protection = {},
          .parameters = parameters,
          .claims = claims,
          .source =
              "Jo and Shin, \"A2SF: Accumulative Attention Scoring with Forgetting Factor for "
              "Token Pruning in Transformer Decoder\", arXiv:2407.20485; code Dirac-Notation/A2SF, "
              "utils_real_drop/policies/a2sf.py",
          .differs =
              "The code selects once, at the end of a prompt, and its cache then grows "
              "(compress=prompt); here the same sum also decides while the model generates. It "
              "keeps the 16 newest tokens; by default half of the budget is kept here. The factor "
              "is that of the example in the code; the paper adjusts it to the model, and a later "
              "version to each text. The heads of a unit are averaged.",
          .cost = "O(residents) time a query; O(middle) a trim; 8 bytes per resident",
          .make = [](const Options& options) { return make_a2sf(options.real("factor")); }};
}

}  // namespace kv
