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
  ExpectedAttention(Covariance covariance, bool value_norm, std::size_t future)
      : covariance_(covariance), value_norm_(value_norm), future_(future) {}

  [[nodiscard]] Needs needs() const override {
    return {.keys = true, .values = value_norm_, .queries = true};
  }

  [[nodiscard]] Leaving leaving() const override { return Leaving::in_bulk; }

  void rotate_by(const Rotation* rotation, bool at_ranks) override {
    rotator_ = Rotator(rotation, at_ranks);
  }

  void observe(const Observation& observation) override {
    dim_ = observation.keys.dim;
    kv_heads_ = observation.keys.heads();
    heads_ = observation.queries.heads();
    ++queries_;
    next_ = observation.query + 1;
    keys_.insert(keys_.end(), observation.keys.numbers.begin(), observation.keys.numbers.end());
    // A position never changes, so its rotation is done once; ranks change and are applied at a
    // trim.
    if (rotates() && !rotator_.at_ranks()) {
      rotator_.rotate_to(observation.query, dim_, std::span(keys_).last(kv_heads_ * dim_));
    }
    for (std::size_t head = 0; head < kv_heads_; ++head) {
      norms_.push_back(value_norm_ ? norm_of(observation.values.head(head)) : 1);
    }
    sums_.resize(heads_ * dim_);
    products_.resize(heads_ * dim_ * partners());
    for (std::size_t head = 0; head < heads_; ++head) add_query(head, observation.queries);
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
    writer.put(queries_);
    writer.put(next_);
    writer.put(keys_);
    writer.put(norms_);
    writer.put(sums_);
    writer.put(products_);
  }

  void load(ByteReader& reader) override {
    for (std::size_t* size : {&dim_, &kv_heads_, &heads_}) *size = reader.get<std::size_t>();
    queries_ = reader.get<std::uint64_t>();
    next_ = reader.get<Position>();
    reader.get(keys_);
    reader.get(norms_);
    reader.get(sums_);
    reader.get(products_);
  }

 private:
  // The scores of n ranks; the view holds until the next call.
  std::span<const double> scores_of(std::size_t first_rank, std::size_t n) {
    const std::size_t residents = norms_.size() / kv_heads_;
    KV_CHECK(first_rank + n <= residents);
    rotate_keys(residents);
    scores_.assign(residents, 0);
    for (std::size_t head = 0; head < heads_; ++head) add_head(head, residents);
    return std::span<const double>(scores_).subspan(first_rank, n);
  }

  [[nodiscard]] bool rotates() const { return future_ > 0 && rotator_.rotation() != nullptr; }

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
        rotator_.at_ranks() ? static_cast<Position>(residents) : next_, future_, ahead_);
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

  // The number of channels with which each channel's products are summed.
  [[nodiscard]] std::size_t partners() const {
    if (covariance_ == Covariance::none) return 0;
    return covariance_ == Covariance::diagonal ? 1 : dim_;
  }

  // The partner with that index of a channel.
  [[nodiscard]] std::size_t channel_of(std::size_t channel, std::size_t partner) const {
    return covariance_ == Covariance::full ? partner : channel;
  }

  void add_query(std::size_t head, const HeadVectors& queries) {
    const std::span<const float> query = queries.head(head);
    for (std::size_t i = 0; i < dim_; ++i) {
      const std::size_t at = head * dim_ + i;
      sums_[at] += static_cast<double>(query[i]);
      for (std::size_t j = 0; j < partners(); ++j) {
        products_[at * partners() + j] +=
            static_cast<double>(query[i]) * static_cast<double>(query[channel_of(i, j)]);
      }
    }
  }

  // Adds the expected attention of one query head to the score of every resident. Shifting
  // exponents by their maximum avoids overflow and cancels in the normalisation.
  void add_head(std::size_t head, std::size_t residents) {
    const std::size_t kv_head = head / (heads_ / kv_heads_);
    expected_.resize(residents);
    find_coefficients(head);
    double highest = 0;
    for (std::size_t rank = 0; rank < residents; ++rank) {
      const float* const key = rotated_.data() + (rank * kv_heads_ + kv_head) * dim_;
      expected_[rank] = exponent(key);
      highest = rank == 0 ? expected_[rank] : std::max(highest, expected_[rank]);
    }
    for (double& value : expected_) value -= highest;
    kernels().exp_each(expected_.data(), residents);
    double sum = 0;
    for (const double value : expected_) sum += value;
    for (std::size_t rank = 0; rank < residents; ++rank) {
      scores_[rank] += expected_[rank] / sum * norms_[rank * kv_heads_ + kv_head];
    }
  }

  // The coefficients of k.mu / sqrt(d) + k.S.k / 2d for a query head, the same for all keys. The
  // covariance E[xy] - E[x]E[y] is from plain sums in double: queries need not be stored.
  void find_coefficients(std::size_t head) {
    const auto count = static_cast<double>(queries_);
    const auto d = static_cast<double>(dim_);
    linear_.resize(dim_);
    square_.assign(dim_ * std::max<std::size_t>(partners(), 1), 0);
    for (std::size_t i = 0; i < dim_; ++i) {
      const std::size_t at = head * dim_ + i;
      const double mean = sums_[at] / count;
      linear_[i] = mean / std::sqrt(d);
      for (std::size_t j = 0; j < partners(); ++j) {
        const double other = sums_[head * dim_ + channel_of(i, j)] / count;
        square_[i * partners() + j] =
            (products_[at * partners() + j] / count - mean * other) / (2 * d);
      }
    }
  }

  [[nodiscard]] double exponent(const float* key) const {
    const Kernels& kernel = kernels();
    if (covariance_ != Covariance::full) {
      return kernel.quadratic(key, linear_.data(), square_.data(), dim_);
    }
    double spread = 0;
    for (std::size_t i = 0; i < dim_; ++i) {
      spread += double{key[i]} * kernel.dot_weights(key, square_.data() + i * dim_, dim_);
    }
    return kernel.dot_weights(key, linear_.data(), dim_) + spread;
  }

  Covariance covariance_;
  bool value_norm_;
  std::size_t future_;
  Rotator rotator_;
  std::size_t dim_ = 0;
  std::size_t kv_heads_ = 0;
  std::size_t heads_ = 0;       // query heads
  std::uint64_t queries_ = 0;   // observed so far
  Position next_ = 0;           // of the next query
  std::vector<float> keys_;     // [residents, kv_heads, dim], by rank; rotated by their positions,
                                // unless positions are ranks, which change
  std::vector<float> rotated_;  // scratch: the same, rotated forwards and back
  std::vector<PairRotation> ahead_;      // scratch
  std::vector<double> norms_;            // [residents, kv_heads]: of values, or 1
  std::vector<double> sums_;             // [heads, dim]: of queries
  std::vector<double> products_;         // [heads, dim, partners]
  std::vector<double> linear_, square_;  // scratch: the coefficients of a query head
  std::vector<double> expected_;         // scratch
  std::vector<double> scores_;           // scratch
};

constexpr auto claims = std::array<std::string_view, 2>{"constant-size", "deterministic"};

constexpr auto covariances = std::array<std::string_view, 3>{"none", "diagonal", "full"};
constexpr auto norms = std::array<std::string_view, 2>{"yes", "no"};
constexpr auto parameters = std::array<Parameter, 3>{{
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
}};

Covariance covariance_of(std::string_view word) {
  if (word == "none") return Covariance::none;
  return word == "full" ? Covariance::full : Covariance::diagonal;
}

}  // namespace

std::unique_ptr<Policy> make_expected_attention(Covariance covariance,
                                                bool value_norm,
                                                std::size_t future) {
  return std::make_unique<ExpectedAttention>(covariance, value_norm, future);
}

PolicyEntry expected_attention_policy() {
  return {
      .name = "expected-attention",
      .summary = "Keeps the tokens to which queries like the past ones would attend.",
      .protection = {.sinks = 4},
      .parameters = parameters,
      .claims = claims,
      .source =
          "Devoto, Jeblick and Jegou, \"Expected Attention: KV Cache Compression by "
          "Estimating Attention from Future Queries Distribution\", arXiv:2510.00636; "
          "code NVIDIA/kvpress, ExpectedAttentionPress",
      .differs =
          "The statistics are of all queries so far; in the source they are of the prompt "
          "without its first tokens. The covariance is diagonal by default; in the source it is "
          "full.",
      .cost =
          "O(residents * keys) time a trim, where keys counts the numbers in a token's keys; "
          "per resident 4 bytes for each of these numbers, and 8 bytes per kv-head",
      .make = [](const Options& options) {
        return make_expected_attention(covariance_of(options.at("covariance")),
                                       options.at("value-norm") == "yes", options.count("future"));
      }};
}

}  // namespace kv
