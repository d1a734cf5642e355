#include "kvcheck/policies/attention/snapkv.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "kvcheck/base/check.h"
#include "kvcheck/policies/parts/by_rank.h"
#include "kvcheck/policies/parts/recent_votes.h"
#include "kvcheck/policies/parts/voting_parameters.h"
#include "kvcheck/policies/policy.h"

namespace kv {
namespace {

class Snapkv final : public Policy {
 public:
  explicit Snapkv(const SnapkvOptions& options) : options_(options), votes_(options.window) {
    KV_CHECK(options.kernel % 2 == 1);
  }

  [[nodiscard]] Needs needs() const override {
    return {.attention = true, .last_queries = options_.window};
  }

  [[nodiscard]] Leaving leaving() const override { return Leaving::in_bulk; }

  void observe(const Observation& observation) override { votes_.add(observation.mass); }

  void evict(const Candidates& candidates, Draws&, std::vector<std::size_t>& victims) override {
    const std::size_t n = candidates.positions.size();
    if (options_.once && selected_ != 0) {
      // The older candidates fill the capacity since the first trim, so the rest are newcomers.
      for (std::size_t i = candidates.capacity; i < n; ++i) victims.push_back(i);
      return;
    }
    append_lowest(select(candidates.first_rank, n), n - candidates.capacity, victims);
  }

  [[nodiscard]] bool scores_compare() const override { return true; }

  // With select=once, tokens that the first trim kept score higher than any newcomer.
  std::span<const double> scores(const PooledCandidates& candidates) override {
    const std::size_t n = candidates.positions.size();
    if (!options_.once || selected_ == 0) return select(candidates.first_rank, n);
    score_newcomers_lowest(n, candidates.newcomers, pooled_);
    return pooled_;
  }

  void forget(std::span<const std::size_t> ranks) override { votes_.forget(ranks); }

  [[nodiscard]] std::unique_ptr<Policy> clone() const override {
    return std::make_unique<Snapkv>(*this);
  }

  void save(ByteWriter& writer) const override {
    writer.put(selected_);
    votes_.save(writer);
  }

  void load(ByteReader& reader) override {
    selected_ = reader.get<std::uint8_t>();
    votes_.load(reader);
  }

 private:
  // The pooled votes of n candidates at a trim. Neighbours outside the middle do not count, as in
  // the authors' code.
  std::span<const double> select(std::size_t first_rank, std::size_t n) {
    selected_ = 1;
    // A mean would divide by `kernel` everywhere, so the sum has the same order.
    pool_neighbours(votes_.sums(first_rank, n), options_.kernel / 2, options_.largest, pooled_);
    return pooled_;
  }

  SnapkvOptions options_;
  RecentVotes votes_;
  std::uint8_t selected_ = 0;   // 1 once a trim has decided
  std::vector<double> pooled_;  // scratch
};

constexpr auto claims =
    std::array<std::string_view, 4>{"constant-size", "deterministic", "score-driven", "pooled"};

constexpr auto poolings = std::array<std::string_view, 2>{"max", "mean"};
constexpr auto selections = std::array<std::string_view, 2>{"always", "once"};
constexpr auto parameters = std::array<Parameter, 4>{{
    voting_window,
    pooling_kernel,
    {.name = "pooling",
     .default_value = "max",
     .choices = poolings,
     .meaning = "whether a token takes the largest or the mean of its neighbours' votes"},
    {.name = "select",
     .default_value = "always",
     .choices = selections,
     .meaning =
         "once: the first trim selects the tokens that are kept for good, as after a prompt"},
}};

}  // namespace

std::unique_ptr<Policy> make_snapkv(const SnapkvOptions& options) {
  return std::make_unique<Snapkv>(options);
}

PolicyEntry snapkv_policy() {
  return {
      .name = "snapkv",
      .summary = "Keeps the tokens to which the last queries attend, and their neighbours.",
      .protection = {},
      .parameters = parameters,
      .claims = claims,
      .source =
          "Li et al., \"SnapKV: LLM Knows What You are Looking for Before Generation\", "
          "NeurIPS 2024, arXiv:2404.14469, section 4; code FasterDecoding/SnapKV, "
          "snapkv/monkeypatch/snapkv_utils.py",
      .differs =
          "The source compresses only the prompt, and its cache then grows; select=once keeps "
          "that selection, within the budget. The heads of a unit are averaged. Of equal scores "
          "the older token is evicted.",
      .cost =
          "O(residents) time a query; O(middle * (window + kernel)) time a trim; 4 * window "
          "bytes per resident",
      .make = [](const Options& options) {
        return make_snapkv({.window = options.count("window"),
                            .kernel = options.count("kernel"),
                            .largest = options.at("pooling") == "max",
                            .once = options.at("select") == "once"});
      }};
}

}  // namespace kv
