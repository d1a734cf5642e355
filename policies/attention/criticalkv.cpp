#include "kvcheck/policies/attention/criticalkv.h"

#include <array>
#include <cmath>
#include <limits>
#include <string_view>

#include "kvcheck/base/check.h"
#include "kvcheck/policies/parts/by_rank.h"
#include "kvcheck/policies/parts/recent_votes.h"
#include "kvcheck/policies/parts/voting_parameters.h"
#include "kvcheck/policies/policy.h"

namespace kv {
namespace {

// What the source adds to a token's attention, so that a value counts even without attention.
constexpr double epsilon = 1e-4;

class Criticalkv final : public Policy {
 public:
  explicit Criticalkv(const CriticalkvOptions& options)
      : options_(options), votes_(options.window) {
    KV_CHECK(options.kernel % 2 == 1 && options.first >= 0 && options.first <= 1);
  }

  [[nodiscard]] Needs needs() const override {
    return {
        .attention = true, .values = true, .output_norms = true, .last_queries = options_.window};
  }

  [[nodiscard]] Leaving leaving() const override { return Leaving::in_bulk; }

  void observe(const Observation& observation) override {
    votes_.add(observation.mass);
    const bool projected = !observation.output_norms.empty();
    const auto& numbers = projected ? observation.output_norms : observation.values.numbers;
    const std::size_t heads = projected ? numbers.size() : observation.values.heads();
    double sum = 0;
    for (const float number : numbers) sum += std::abs(double{number});
    sizes_.push_back(sum / static_cast<double>(heads));
  }

  void evict(const Candidates& candidates, Draws&, std::vector<std::size_t>& victims) override {
    const std::size_t n = candidates.positions.size();
    const std::size_t first = candidates.first_rank;
    KV_CHECK(first + n <= sizes_.size());
    pool_neighbours(votes_.sums(first, n), options_.kernel / 2, true, scores_);
    const auto voters = static_cast<double>(votes_.voters());
    for (double& score : scores_) score /= voters;
    const auto kept =
        static_cast<std::size_t>(static_cast<double>(candidates.capacity) * options_.first);
    losers_.clear();
    append_lowest(std::span<const double>(scores_), n - kept, losers_);
    std::vector<double> second(n, std::numeric_limits<double>::infinity());
    for (const std::size_t i : losers_) second[i] = (scores_[i] + epsilon) * sizes_[first + i];
    append_lowest(std::span<const double>(second), n - candidates.capacity, victims);
  }

  void forget(std::span<const std::size_t> ranks) override {
    votes_.forget(ranks);
    erase_ranks(sizes_, ranks);
  }

  [[nodiscard]] std::unique_ptr<Policy> clone() const override {
    return std::make_unique<Criticalkv>(*this);
  }

  void save(ByteWriter& writer) const override {
    votes_.save(writer);
    writer.put(sizes_);
  }

  void load(ByteReader& reader) override {
    votes_.load(reader);
    reader.get(sizes_);
  }

 private:
  CriticalkvOptions options_;
  RecentVotes votes_;
  std::vector<double> sizes_;        // [residents], by rank: the size of a value
  std::vector<double> scores_;       // scratch
  std::vector<std::size_t> losers_;  // scratch: of the first stage
};

constexpr auto claims =
    std::array<std::string_view, 4>{"constant-size", "deterministic", "score-driven", "pooled"};

constexpr auto parameters = std::array<Parameter, 3>{{
    voting_window,
    pooling_kernel,
    {.name = "first",
     .default_value = "0.5",
     .meaning = "the share of the middle that is kept by attention alone",
     .range = reals(0, 1)},
}};

}  // namespace

std::unique_ptr<Policy> make_criticalkv(const CriticalkvOptions& options) {
  return std::make_unique<Criticalkv>(options);
}

PolicyEntry criticalkv_policy() {
  return {.name = "criticalkv",
          .summary =
              "Keeps the tokens with the most attention, then those with the most attention "
              "times value.",
          .protection = {},
          .parameters = parameters,
          .claims = claims,
          .source =
              "Feng et al., \"Identify Critical KV Cache in LLM Inference from an Output "
              "Perturbation Perspective\", arXiv:2502.03805; code NVIDIA/kvpress, CriticalKVPress "
              "over SnapKVPress",
          .differs =
              "Only a running model has the output projection, as eval, generate and speed have "
              "it. A replay and a check take the 1-norm of the value itself, so that the second "
              "stage ranks tokens differently where the projection stretches some "
              "values more than others. The source compresses a prompt once (compress=prompt). Its "
              "first share is of the whole budget, with the recent tokens, here of the middle. The "
              "heads of a unit are averaged.",
          .cost =
              "O(residents) time a query; O(middle * (window + kernel)) time a trim; 4 * window + "
              "8 bytes per resident",
          .make = [](const Options& options) {
            return make_criticalkv({.window = options.count("window"),
                                    .kernel = options.count("kernel"),
                                    .first = options.real("first")});
          }};
}

}  // namespace kv
