#include "kvcheck/policies/attention/rkv.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "kvcheck/base/check.h"
#include "kvcheck/base/kernels/kernels.h"
#include "kvcheck/policies/parts/by_rank.h"
#include "kvcheck/policies/parts/recent_votes.h"
#include "kvcheck/policies/parts/rows.h"
#include "kvcheck/policies/policy.h"

namespace kv {
namespace {

class Rkv final : public Policy {
 public:
  explicit Rkv(const RkvOptions& options) : options_(options), votes_(options.window) {
    KV_CHECK(options.kernel % 2 == 1);
  }

  [[nodiscard]] Needs needs() const override {
    return {.attention = true, .keys = true, .last_queries = options_.window};
  }

  [[nodiscard]] Leaving leaving() const override { return Leaving::in_bulk; }

  void observe(const Observation& observation) override {
    const HeadVectors& keys = observation.keys;
    votes_.add(observation.mass);
    dim_ = keys.dim;
    heads_ = keys.heads();
    keys_.insert(keys_.end(), keys.numbers.begin(), keys.numbers.end());
    for (std::size_t head = 0; head < heads_; ++head) {
      const double norm = norm_of(keys.head(head));
      shrinks_.push_back(norm > 0 ? 1 / norm : 0);
    }
    numbers_.push_back(++arrived_);
    newest_alike_.resize(newest_alike_.size() + heads_, no_token);
    for (std::size_t head = 0; head < heads_; ++head) meet(head);
  }

  void evict(const Candidates& candidates, Draws&, std::vector<std::size_t>& victims) override {
    const std::size_t n = candidates.positions.size();
    KV_CHECK(candidates.first_rank + n <= residents());
    pool_neighbours(votes_.sums(candidates.first_rank, n), options_.kernel / 2, true, scores_);
    redundancy_.assign(residents(), 0);
    for (std::size_t head = 0; head < heads_; ++head) add_redundancy(head);
    const auto voters = static_cast<double>(votes_.voters());
    const auto heads = static_cast<double>(heads_);
    // Divided by the voters, so that importance is a mean of masses also before the window is full.
    for (std::size_t i = 0; i < n; ++i) {
      const double redundancy = redundancy_[candidates.first_rank + i] / heads;
      scores_[i] = options_.lambda * scores_[i] / voters - (1 - options_.lambda) * redundancy;
    }
    append_lowest(std::span<const double>(scores_), n - candidates.capacity, victims);
  }

  void forget(std::span<const std::size_t> ranks) override {
    std::vector<std::uint64_t> evicted;
    for (const std::size_t rank : ranks) {
      if (rank < residents()) evicted.push_back(numbers_[rank]);
    }
    votes_.forget(ranks);
    erase_rows(keys_, ranks, heads_ * dim_);
    erase_rows(shrinks_, ranks, heads_);
    erase_rows(newest_alike_, ranks, heads_);
    erase_ranks(numbers_, ranks);
    // Only now: the search must not find tokens that are evicted by the same call.
    for (std::size_t at = 0; at < newest_alike_.size(); ++at) {
      if (std::ranges::binary_search(evicted, newest_alike_[at])) {
        newest_alike_[at] = look_for_alike(at / heads_, at % heads_);
      }
    }
  }

  [[nodiscard]] std::unique_ptr<Policy> clone() const override {
    return std::make_unique<Rkv>(*this);
  }

  void save(ByteWriter& writer) const override {
    votes_.save(writer);
    writer.put(arrived_);
    writer.put(dim_);
    writer.put(heads_);
    writer.put(keys_);
    writer.put(shrinks_);
    writer.put(numbers_);
    writer.put(newest_alike_);
  }

  void load(ByteReader& reader) override {
    votes_.load(reader);
    arrived_ = reader.get<std::uint64_t>();
    dim_ = reader.get<std::size_t>();
    heads_ = reader.get<std::size_t>();
    reader.get(keys_);
    reader.get(shrinks_);
    reader.get(numbers_);
    reader.get(newest_alike_);
  }

 private:
  static constexpr std::uint64_t no_token = 0;

  [[nodiscard]] std::size_t residents() const { return numbers_.size(); }

  [[nodiscard]] std::span<const float> key(std::size_t rank, std::size_t head) const {
    return std::span(keys_).subspan((rank * heads_ + head) * dim_, dim_);
  }

  [[nodiscard]] double shrink(std::size_t rank, std::size_t head) const {
    return shrinks_[rank * heads_ + head];
  }

  // Symmetric to the last bit, so that two tokens have the same cosine both ways; 0 for a key of
  // length 0.
  [[nodiscard]] double cosine(std::size_t a, std::size_t b, std::size_t head) const {
    return dot_of(key(a, head), key(b, head)) * (shrink(a, head) * shrink(b, head));
  }

  // Updates the newest similar tokens for the last resident, which is new. Ranks rise in the loop,
  // so the last one found is the newest.
  void meet(std::size_t head) {
    const std::size_t last = residents() - 1;
    for (std::size_t rank = 0; rank < last; ++rank) {
      if (cosine(rank, last, head) <= options_.threshold) continue;
      newest_alike_[rank * heads_ + head] = numbers_[last];
      newest_alike_[last * heads_ + head] = numbers_[rank];
    }
  }

  // From the newest rank down, so that the first match is the newest similar token.
  [[nodiscard]] std::uint64_t look_for_alike(std::size_t rank, std::size_t head) const {
    for (std::size_t other = residents(); other-- > 0;) {
      if (other != rank && cosine(rank, other, head) > options_.threshold) return numbers_[other];
    }
    return no_token;
  }

  // Adds one head's softmax of mean cosines. Sums are rounded to multiples of 2^-40. Otherwise
  // rounding errors, not age, would decide between tokens with equal sums, such as any two similar
  // tokens.
  void add_redundancy(std::size_t head) {
    const std::size_t n = residents();
    sum_.assign(dim_, 0);
    for (std::size_t rank = 0; rank < n; ++rank) {
      kernels().add_weighted(sum_.data(), key(rank, head).data(), shrink(rank, head), dim_);
    }
    alike_.assign(n, 0);
    for (std::size_t rank = 0; rank < n; ++rank) {
      const double all = kernels().dot_weights(key(rank, head).data(), sum_.data(), dim_);
      // Without the cosine with itself, which is 1. += because exemptions of earlier ranks are
      // already subtracted.
      alike_[rank] += all * shrink(rank, head) - (shrink(rank, head) > 0 ? 1 : 0);
      const std::uint64_t newest = newest_alike_[rank * heads_ + head];
      if (newest == no_token) continue;
      const auto exempt =
          static_cast<std::size_t>(std::ranges::lower_bound(numbers_, newest) - numbers_.begin());
      alike_[exempt] -= cosine(rank, exempt, head);
    }
    for (double& value : alike_) value = std::round(value * 0x1p40) * 0x1p-40;
    const double most = *std::ranges::max_element(alike_);
    double sum = 0;
    for (double& value : alike_) value = (value - most) / static_cast<double>(n);
    kernels().exp_each(alike_.data(), n);
    for (const double value : alike_) sum += value;
    for (std::size_t rank = 0; rank < n; ++rank) redundancy_[rank] += alike_[rank] / sum;
  }

  RkvOptions options_;
  RecentVotes votes_;
  std::uint64_t arrived_ = 0;  // tokens observed so far
  std::size_t dim_ = 0;        // of one head's key
  std::size_t heads_ = 0;      // kv-heads
  // By rank:
  std::vector<float> keys_;                  // [residents, heads, dim]
  std::vector<double> shrinks_;              // [residents, heads], 1 / length of a key, or 0
  std::vector<std::uint64_t> numbers_;       // [residents], by arrival, from 1; increasing
  std::vector<std::uint64_t> newest_alike_;  // [residents, heads]: a number or no_token
  std::vector<double> sum_, alike_, redundancy_, scores_;  // scratch
};

constexpr auto claims =
    std::array<std::string_view, 4>{"constant-size", "deterministic", "score-driven", "pooled"};

constexpr auto kernels_of_importance =
    std::array<std::string_view, 7>{"1", "3", "5", "7", "9", "11", "13"};
constexpr auto parameters = std::array<Parameter, 4>{{
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
}};

}  // namespace

std::unique_ptr<Policy> make_rkv(const RkvOptions& options) {
  return std::make_unique<Rkv>(options);
}

PolicyEntry rkv_policy() {
  return {.name = "rkv",
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
              "Keys are compared before rotation; the source compares them as they are stored. "
              "Query heads are averaged; in the source the largest logit counts. A key without a "
              "similar one protects no token; in the source it protects the first resident. Of "
              "equal scores the older token is evicted.",
          .cost =
              "O(residents * key) time a query; O(residents * (key + window)) time a trim, and "
              "O(residents * key) for each resident whose newest similar token is evicted; 4 * "
              "(window + key) + 16 * heads + 8 bytes per resident",
          .make = [](const Options& options) {
            return make_rkv({.window = options.count("window"),
                             .kernel = options.count("kernel"),
                             .lambda = options.real("lambda"),
                             .threshold = options.real("threshold")});
          }};
}

}  // namespace kv
