#include "kvcheck/policies/attention/expected_attention.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "kvcheck/base/check.h"
#include "kvcheck/base/kernels/kernels.h"
#include "kvcheck/policies/parts/by_rank.h"
#include "kvcheck/policies/parts/rotator.h"
#include "kvcheck/policies/parts/rows.h"
#include "kvcheck/policies/policy.h"

namespace kv {
namespace {

class ExpectedAttention final : public Policy {
 public:
  explicit ExpectedAttention(const ExpectedAttentionOptions& options)
      : options_(options), moments_(options.covariance) {}

  [[nodiscard]] Needs needs() const override {
    return {.keys = true, .values = options_.value_norm, .queries = true};
  }

  [[nodiscard]] Leaving leaving() const override { return Leaving::in_bulk; }

  void rotate_by(const Rotation* rotation, bool at_ranks) override {
    rotator_ = Rotator(rotation, at_ranks);
  }

  void observe(const Observation& observation) override {
    dim_ = observation.keys.dim;
    kv_heads_ = observation.keys.heads();
    heads_ = observation.queries.heads();
    next_ = observation.query + 1;
    keys_.insert(keys_.end(), observation.keys.numbers.begin(), observation.keys.numbers.end());
    // A position never changes, so its rotation is done once; ranks change and are applied at a
    // trim.
    if (rotates() && !rotator_.at_ranks()) {
      rotator_.rotate_to(observation.query, dim_, std::span(keys_).last(kv_heads_ * dim_));
    }
    for (std::size_t head = 0; head < kv_heads_; ++head) {
      norms_.push_back(options_.value_norm ? norm_of(observation.values.head(head)) : 1);
    }
    if (observation.query >= options_.skip) moments_.add(observation.queries);
  }

  void evict(const Candidates& candidates, Draws&, std::vector<std::size_t>& victims) override {
    const std::size_t n = candidates.positions.size();
    append_lowest(scores_of(candidates.first_rank, n), n - candidates.capacity, victims);
  }

  [[nodiscard]] bool scores_compare() const override { return true; }

  std::span<const double> scores(const PooledCandidates& candidates) override {
    return scores_of(candidates.first_rank, candidates.positions.size());
  }

  void forget(std::span<const std::size_t> ranks) override {
    erase_rows(keys_, ranks, kv_heads_ * dim_);
    erase_rows(norms_, ranks, kv_heads_);
  }

  [[nodiscard]] std::unique_ptr<Policy> clone() const override {
    return std::make_unique<ExpectedAttention>(*this);
  }

  void save(ByteWriter& writer) const override {
    for (const std::size_t size : {dim_, kv_heads_, heads_}) writer.put(size);
    writer.put(next_);
    writer.put(keys_);
    writer.put(norms_);
    moments_.save(writer);
  }

  void load(ByteReader& reader) override {
    for (std::size_t* size : {&dim_, &kv_heads_, &heads_}) *size = reader.get<std::size_t>();
    next_ = reader.get<Position>();
    reader.get(keys_);
    reader.get(norms_);
    moments_.load(reader);
  }

 private:
  struct Ranks {
    std::size_t begin = 0;
    std::size_t end = 0;
  };

  // The scores of n ranks; the view holds until the next call.
  std::span<const double> scores_of(std::size_t first_rank, std::size_t n) {
    const std::size_t residents = norms_.size() / kv_heads_;
    KV_CHECK(first_rank + n <= residents);
    rotate_keys(residents);
    scores_.assign(residents, 0);
    const Ranks summed =
        options_.of_middle ? Ranks{first_rank, first_rank + n} : Ranks{0, residents};
    for (std::size_t head = 0; head < heads_; ++head) add_head(head, summed);
    return std::span<const double>(scores_).subspan(first_rank, n);
  }

  [[nodiscard]] bool rotates() const {
    return options_.future > 0 && rotator_.rotation() != nullptr;
  }

  // The residents' keys as the next queries will meet them: rotated to their rotary positions, and
  // back by the mean rotation of the next positions. One rotation per key replaces a rotation of mu
  // and of S.
  void rotate_keys(std::size_t residents) {
    rotated_ = keys_;
    if (!rotates()) return;
    const std::size_t width = kv_heads_ * dim_;
    for (std::size_t rank = 0; rank < residents && rotator_.at_ranks(); ++rank) {
      rotator_.rotate_to(static_cast<Position>(rank), dim_,
                         std::span(rotated_).subspan(rank * width, width));
    }
    rotator_.rotation()->mean_rotations(
        rotator_.at_ranks() ? static_cast<Position>(residents) : next_, options_.future, ahead_);
    for (const PairRotation& pair : ahead_) rotate_back(pair);
  }

  // Pair by pair over all keys, so that its numbers are in registers.
  void rotate_back(const PairRotation& pair) {
    for (std::size_t at = 0; at < rotated_.size(); at += dim_) {
      float& x = rotated_[at + pair.x];
      float& y = rotated_[at + pair.y];
      const double along = double{x} * pair.cosine + double{y} * pair.sine;
      const double across = double{y} * pair.cosine - double{x} * pair.sine;
      x = static_cast<float>(along);
      y = static_cast<float>(across);
    }
  }

  // Adds the expected attention of one query head to the score of every resident in `ranks`, over
  // which expectations sum to 1. Shifting exponents by their maximum avoids overflow and cancels in
  // the normalisation.
  void add_head(std::size_t head, Ranks ranks) {
    const std::size_t kv_head = head / (heads_ / kv_heads_);
    expected_.clear();
    moments_.select(head, dim_);
    for (std::size_t rank = ranks.begin; rank < ranks.end; ++rank) {
      expected_.push_back(moments_.exponent(rotated_.data() + (rank * kv_heads_ + kv_head) * dim_));
    }
    const double highest = expected_.empty() ? 0 : *std::ranges::max_element(expected_);
    for (double& value : expected_) value -= highest;
    kernels().exp_each(expected_.data(), expected_.size());
    double sum = 0;
    for (const double value : expected_) sum += value;
    for (std::size_t i = 0; i < expected_.size(); ++i) {
      const std::size_t rank = ranks.begin + i;
      scores_[rank] += (expected_[i] / sum + options_.epsilon) * norms_[rank * kv_heads_ + kv_head];
    }
  }

  ExpectedAttentionOptions options_;
  QueryMoments moments_;
  Rotator rotator_;
  std::size_t dim_ = 0;
  std::size_t kv_heads_ = 0;
  std::size_t heads_ = 0;       // query heads
  Position next_ = 0;           // of the next query
  std::vector<float> keys_;     // [residents, kv_heads, dim], by rank; rotated by their positions,
                                // unless positions are ranks, which change
  std::vector<float> rotated_;  // scratch: the same, rotated forwards and back
  std::vector<PairRotation> ahead_;  // scratch
  std::vector<double> norms_;        // [residents, kv_heads]: of values, or 1
  std::vector<double> expected_;     // scratch
  std::vector<double> scores_;       // scratch
};

constexpr auto claims = std::array<std::string_view, 2>{"constant-size", "deterministic"};

constexpr auto covariances = std::array<std::string_view, 3>{"none", "diagonal", "full"};
constexpr auto norms = std::array<std::string_view, 2>{"yes", "no"};
constexpr auto sums = std::array<std::string_view, 2>{"residents", "middle"};
constexpr auto parameters = std::array<Parameter, 6>{{
    {.name = "covariance",
     .default_value = "diagonal",
     .choices = covariances,
     .meaning =
         "which covariance of the queries counts: none, that of each channel alone, or that of "
         "all pairs of channels"},
    {.name = "future",
     .default_value = "512",
     .meaning =
         "the number of next positions at which queries are expected; with 0, keys and queries "
         "are compared before rotation",
     .range = counts(0, 1U << 24U)},
    {.name = "value-norm",
     .default_value = "yes",
     .choices = norms,
     .meaning = "whether the expected attention is multiplied by the length of the value"},
    {.name = "softmax",
     .default_value = "residents",
     .choices = sums,
     .meaning =
         "over which tokens expectations sum to 1: all residents, or the middle alone, as in the "
         "source's code"},
    {.name = "epsilon",
     .default_value = "0",
     .meaning = "what is added to an expectation before the length of the value multiplies it",
     .range = reals(0, 1)},
    {.name = "skip",
     .default_value = "0",
     .meaning = "how many first queries of the stream do not count",
     .range = counts(0, 1U << 24U)},
}};

Covariance covariance_of(std::string_view word) {
  if (word == "none") return Covariance::none;
  return word == "full" ? Covariance::full : Covariance::diagonal;
}

}  // namespace

std::unique_ptr<Policy> make_expected_attention(const ExpectedAttentionOptions& options) {
  return std::make_unique<ExpectedAttention>(options);
}

PolicyEntry expected_attention_policy() {
  return {.name = "expected-attention",
          .summary = "Keeps the tokens to which queries like the past ones would attend.",
          .protection = {.sinks = 4},
          .parameters = parameters,
          .claims = claims,
          .source =
              "Devoto, Jeblick and Jegou, \"Expected Attention: KV Cache Compression by "
              "Estimating Attention from Future Queries Distribution\", arXiv:2510.00636; "
              "code NVIDIA/kvpress, ExpectedAttentionPress",
          .differs =
              "By default the statistics are of all queries so far, in the source of the prompt "
              "without "
              "its first tokens (skip=4); the covariance is diagonal, in the source full; and "
              "expectations sum to 1 over all residents, in the source over the middle.",
          .cost =
              "O(residents * keys) time a trim, where keys counts the numbers in a token's keys; "
              "per resident 4 bytes for each of these numbers, and 8 bytes per kv-head",
          .make = [](const Options& options) {
            return make_expected_attention({.covariance = covariance_of(options.at("covariance")),
                                            .value_norm = options.at("value-norm") == "yes",
                                            .future = options.count("future"),
                                            .of_middle = options.at("softmax") == "middle",
                                            .epsilon = options.real("epsilon"),
                                            .skip = options.count("skip")});
          }};
}

}  // namespace kv
