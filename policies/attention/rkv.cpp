#include "kvcheck/policies/attention/rkv.h"

#include <array>
#include <string_view>

#include "kvcheck/base/check.h"
#include "kvcheck/policies/attention/key_redundancy.h"
#include "kvcheck/policies/parts/by_rank.h"
#include "kvcheck/policies/parts/recent_votes.h"
#include "kvcheck/policies/policy.h"

namespace kv {
namespace {

class Rkv final : public Policy {
 public:
  explicit Rkv(const RkvOptions& options)
      : options_(options),
        votes_(options.window),
        redundancy_(options.threshold, options.exempts_first) {
    KV_CHECK(options.kernel % 2 == 1);
  }

  [[nodiscard]] Needs needs() const override {
    return {.attention = true, .keys = true, .last_queries = options_.window};
  }

  [[nodiscard]] Leaving leaving() const override { return Leaving::in_bulk; }

  void rotate_by(const Rotation* rotation, bool at_ranks) override {
    if (options_.rotated) redundancy_.rotate_by(Rotator(rotation, at_ranks));
  }

  void observe(const Observation& observation) override {
    votes_.add(observation.mass);
    redundancy_.add(observation.keys, observation.query);
  }

  void evict(const Candidates& candidates, Draws&, std::vector<std::size_t>& victims) override {
    const std::size_t n = candidates.positions.size();
    const std::size_t first = candidates.first_rank;
    KV_CHECK(first + n <= votes_.residents());
    pool_neighbours(options_.of_middle ? votes_.sums_of_shares(first, n) : votes_.sums(first, n),
                    options_.kernel / 2, true, scores_);
    const std::span<const double> redundancy = redundancy_.redundancy();
    const auto voters = static_cast<double>(votes_.voters());
    // Divided by the voters, so that importance is a mean of masses also before the window is full.
    for (std::size_t i = 0; i < n; ++i) {
      scores_[i] =
          options_.lambda * scores_[i] / voters - (1 - options_.lambda) * redundancy[first + i];
    }
    append_lowest(std::span<const double>(scores_), n - candidates.capacity, victims);
  }

  void forget(std::span<const std::size_t> ranks) override {
    votes_.forget(ranks);
    redundancy_.forget(ranks);
  }

  [[nodiscard]] std::unique_ptr<Policy> clone() const override {
    return std::make_unique<Rkv>(*this);
  }

  void save(ByteWriter& writer) const override {
    votes_.save(writer);
    redundancy_.save(writer);
  }

  void load(ByteReader& reader) override {
    votes_.load(reader);
    redundancy_.load(reader);
  }

 private:
  RkvOptions options_;
  RecentVotes votes_;
  KeyRedundancy redundancy_;
  std::vector<double> scores_;  // scratch
};

constexpr auto claims =
    std::array<std::string_view, 4>{"constant-size", "deterministic", "score-driven", "pooled"};

constexpr auto kernels_of_importance =
    std::array<std::string_view, 7>{"1", "3", "5", "7", "9", "11", "13"};
constexpr auto masses = std::array<std::string_view, 2>{"visible", "middle"};
constexpr auto exemptions = std::array<std::string_view, 2>{"none", "first"};
constexpr auto parameters = std::array<Parameter, 7>{{
    {.name = "window",
     .default_value = "8",
     .meaning = "how many of the last queries determine importance",
     .range = counts(1, 4096)},
    {.name = "kernel",
     .default_value = "7",
     .choices = kernels_of_importance,
     .meaning =
         "the number of neighbours over which importance is pooled, with the token itself in "
         "their middle"},
    {.name = "lambda",
     .default_value = "0.1",
     .meaning = "the weight of importance in a score; the rest is the weight of redundancy",
     .range = reals(0, 1)},
    {.name = "threshold",
     .default_value = "0.5",
     .meaning = "the cosine of two keys above which their tokens count as similar",
     .range = reals(0, 1)},
    {.name = "importance",
     .default_value = "visible",
     .choices = masses,
     .meaning =
         "whether a query's attention is a share of what it paid to all that it saw, as in the "
         "paper, or of what it paid to the middle, as in the code"},
    {.name = "lone",
     .default_value = "none",
     .choices = exemptions,
     .meaning =
         "which token a key without a similar one exempts: none, or the first resident, as in the "
         "code"},
    key_scores,
}};

}  // namespace

std::unique_ptr<Policy> make_rkv(const RkvOptions& options) {
  return std::make_unique<Rkv>(options);
}

PolicyEntry rkv_policy() {
  return {
      .name = "rkv",
      .summary =
          "Evicts the tokens whose keys repeat newer ones, unless the last queries attend to "
          "them.",
      .protection = {},
      .parameters = parameters,
      .claims = claims,
      .source =
          "Cai et al., \"R-KV: Redundancy-aware KV Cache Compression for Reasoning Models\", "
          "NeurIPS 2025, arXiv:2505.24133, lambda 0.1; code Zefan-Cai/R-KV, "
          "rkv/compression/r1_kv.py (lambda 0.07) and rkv/utils.py",
      .differs =
          "Query heads of a unit are averaged; in the source the largest logit of a kv-head "
          "counts. By default the masses of a query are shares of all that it saw, and a key "
          "without a similar one exempts no token; with importance=middle,lone=first both are "
          "as in the code. Of equal scores the older token is evicted; in the source torch.topk "
          "decides.",
      .cost =
          "O(residents * key) time a query; O(residents * (key + window)) time a trim, and "
          "O(residents * key) for each resident whose newest similar token is evicted, or for "
          "all at every trim if keys are rotated to ranks; 4 * (window + key) + 20 * heads "
          "bytes per resident",
      .make = [](const Options& options) {
        return make_rkv({.window = options.count("window"),
                         .kernel = options.count("kernel"),
                         .lambda = options.real("lambda"),
                         .threshold = options.real("threshold"),
                         .of_middle = options.at("importance") == "middle",
                         .exempts_first = options.at("lone") == "first",
                         .rotated = scores_are_rotated(options)});
      }};
}

}  // namespace kv
