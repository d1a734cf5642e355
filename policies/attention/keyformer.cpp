#include "kvcheck/policies/attention/keyformer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "kvcheck/base/check.h"
#include "kvcheck/base/kernels/kernels.h"
#include "kvcheck/policies/parts/by_rank.h"
#include "kvcheck/policies/policy.h"

namespace kv {
namespace {

// The least mass of which a logarithm is taken: a float may have rounded a probability to 0. Below
// this value the logit no longer matters.
constexpr double least_mass = 1e-38;

class Keyformer final : public Policy {
 public:
  explicit Keyformer(const KeyformerOptions& options) : options_(options) {
    KV_CHECK(options.step >= 0 && options.end >= 1 && options.prompt >= 1);
  }

  [[nodiscard]] Needs needs() const override { return {.attention = true}; }

  [[nodiscard]] Leaving leaving() const override { return Leaving::in_bulk; }

  void observe(const Observation& observation) override {
    const std::size_t n = observation.mass.size();
    KV_CHECK(n >= gathered_.size());
    gathered_.resize(n);
    positions_.resize(n, observation.query);
    const double tau = tau_of(queries_++);
    // The softmax of the logarithms is then the row itself; adding it directly makes this h2o bit
    // by bit and avoids the logarithms.
    if (!options_.noise && tau == 1) return add_mass(gathered_, observation.mass);
    add_noisy(observation, tau);
  }

  void evict(const Candidates& candidates, Draws&, std::vector<std::size_t>& victims) override {
    const std::size_t n = candidates.positions.size();
    KV_CHECK(candidates.first_rank + n <= gathered_.size());
    if (options_.once && selected_ != 0) {
      // The older candidates fill the capacity since the first trim, so the rest are newcomers.
      for (std::size_t i = candidates.capacity; i < n; ++i) victims.push_back(i);
      return;
    }
    selected_ = 1;
    append_lowest(std::span<const double>(gathered_).subspan(candidates.first_rank, n),
                  n - candidates.capacity, victims);
  }

  [[nodiscard]] bool scores_compare() const override { return true; }

  // With select=once, tokens that the first trim kept score higher than any newcomer.
  std::span<const double> scores(const PooledCandidates& candidates) override {
    const std::size_t n = candidates.positions.size();
    KV_CHECK(candidates.first_rank + n <= gathered_.size());
    if (options_.once && selected_ != 0) {
      score_newcomers_lowest(n, candidates.newcomers, noisy_);
      return noisy_;
    }
    selected_ = 1;
    return std::span<const double>(gathered_).subspan(candidates.first_rank, n);
  }

  void forget(std::span<const std::size_t> ranks) override {
    erase_ranks(gathered_, ranks);
    erase_ranks(positions_, ranks);
  }

  [[nodiscard]] std::unique_ptr<Policy> clone() const override {
    return std::make_unique<Keyformer>(*this);
  }

  void save(ByteWriter& writer) const override {
    writer.put(queries_);
    writer.put(selected_);
    writer.put(gathered_);
    for (const Position position : positions_) writer.put(position);
  }

  void load(ByteReader& reader) override {
    queries_ = reader.get<std::uint64_t>();
    selected_ = reader.get<std::uint8_t>();
    reader.get(gathered_);
    positions_.resize(gathered_.size());
    for (Position& position : positions_) position = reader.get<Position>();
  }

 private:
  // The tau of a query, counted from 0. The whole prompt is one iteration of the source.
  [[nodiscard]] double tau_of(std::uint64_t query) const {
    if (query < options_.prompt) return 1;
    const auto iterations = static_cast<double>(query - options_.prompt + 1);
    return std::min(1 + options_.step * iterations, options_.end);
  }

  void add_noisy(const Observation& observation, double tau) {
    const std::size_t n = observation.mass.size();
    find_logits(observation);
    double highest = 0;
    for (std::size_t rank = 0; rank < n; ++rank) {
      noisy_[rank] /= tau;
      highest = rank == 0 ? noisy_[rank] : std::max(highest, noisy_[rank]);
    }
    // At most 0, so that no noise overflows.
    for (double& value : noisy_) value -= highest;
    kernels().exp_each(noisy_.data(), n);
    double sum = 0;
    for (const double value : noisy_) sum += value;
    for (std::size_t rank = 0; rank < n; ++rank) gathered_[rank] += noisy_[rank] / sum;
  }

  // The logarithms of the masses, with Gumbel noise: -log(e) for an exponential number e = -log(u).
  // So both are one logarithm, of mass / e.
  void find_logits(const Observation& observation) {
    const std::size_t n = observation.mass.size();
    noisy_.resize(n);
    for (std::size_t rank = 0; rank < n; ++rank) {
      noisy_[rank] = std::max(static_cast<double>(observation.mass[rank]), least_mass);
    }
    if (options_.noise) {
      // Keyed by the positions of query and token, so that the noise of a pair does not depend on
      // evictions or chunks.
      KV_CHECK(observation.draws != nullptr);
      exponential_.resize(n);
      for (std::size_t rank = 0; rank < n; ++rank) {
        exponential_[rank] = observation.draws->uniform(observation.query, positions_[rank]);
      }
      kernels().log_each(exponential_.data(), n);
      for (std::size_t rank = 0; rank < n; ++rank) noisy_[rank] /= -exponential_[rank];
    }
    kernels().log_each(noisy_.data(), n);
  }

  KeyformerOptions options_;
  std::uint64_t queries_ = 0;        // observed so far
  std::uint8_t selected_ = 0;        // 1 once a trim has decided
  std::vector<double> gathered_;     // [residents], by rank
  std::vector<Position> positions_;  // [residents]
  std::vector<double> noisy_;        // scratch
  std::vector<double> exponential_;  // scratch
};

// Not deterministic, because the default noise draws.
constexpr auto claims = std::array<std::string_view, 2>{"constant-size", "score-driven"};

constexpr auto noises = std::array<std::string_view, 2>{"gumbel", "none"};
constexpr auto selections = std::array<std::string_view, 2>{"always", "once"};
constexpr auto parameters = std::array<Parameter, 5>{{
    {.name = "noise",
     .default_value = "gumbel",
     .choices = noises,
     .meaning = "what is added to every logit"},
    {.name = "step",
     .default_value = "0.01",
     .meaning = "how much tau, which starts at 1, rises with every query after the prompt",
     .range = reals(0, 10)},
    {.name = "end",
     .default_value = "2",
     .meaning = "the tau at which the rise ends",
     .range = reals(1, 1000000)},
    {.name = "prompt",
     .default_value = "1",
     .meaning = "how many of the first queries are a prompt, for which tau is 1",
     .range = counts(1, 1U << 24U)},
    {.name = "select",
     .default_value = "always",
     .choices = selections,
     .meaning =
         "once: the first trim selects the tokens that are kept for good, as the authors' code "
         "does"},
}};

}  // namespace

std::unique_ptr<Policy> make_keyformer(const KeyformerOptions& options) {
  return std::make_unique<Keyformer>(options);
}

PolicyEntry keyformer_policy() {
  return {
      .name = "keyformer",
      .summary = "Keeps the tokens with the largest sums of attention under Gumbel noise.",
      .protection = {},
      .parameters = parameters,
      .claims = claims,
      .source =
          "Adnan et al., \"Keyformer: KV Cache Reduction through Key Tokens Selection "
          "for Efficient Generative Inference\", MLSys 2024, arXiv:2403.09054, section 3.3; code "
          "d-matrix-ai/keyformer-llm, models/gptj-keyformer-lib/modeling_gptj.py",
      .differs =
          "The authors' code never lets a token of the answer become a key token. Their text "
          "does not say so; select=once does as the code does. Without prompt=, tau rises from "
          "the second query on. In the code it rises with every generated token and without "
          "end; in the text it rises to 2 over the answer. The noise is keyed by query and "
          "token; the code draws it without a seed. Of equal scores the older token is evicted.",
      .cost = "O(residents) time and draws a query; 12 bytes per resident",
      .make = [](const Options& options) {
        return make_keyformer({.noise = options.at("noise") == "gumbel",
                               .step = options.real("step"),
                               .end = options.real("end"),
                               .prompt = options.count("prompt"),
                               .once = options.at("select") == "once"});
      }};
}

}  // namespace kv
