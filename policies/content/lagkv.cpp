#include "kvcheck/policies/content/lagkv.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <string_view>

#include "kvcheck/base/check.h"
#include "kvcheck/base/kernels/kernels.h"
#include "kvcheck/policies/parts/by_rank.h"
#include "kvcheck/policies/parts/rotator.h"
#include "kvcheck/policies/parts/rows.h"
#include "kvcheck/policies/policy.h"

namespace kv {
namespace {

// Infinite, so that tokens with a score are evicted first, and equal, so that the others are
// evicted oldest first.
constexpr double not_scored = std::numeric_limits<double>::infinity();

class Lagkv final : public Policy {
 public:
  Lagkv(std::size_t lag, LagPartitions partitions, bool rotated)
      : lag_(lag), partitions_(partitions), rotated_(rotated) {
    KV_CHECK(lag >= 1);
  }

  [[nodiscard]] Needs needs() const override { return {.keys = true, .values = true}; }

  [[nodiscard]] Leaving leaving() const override { return Leaving::in_bulk; }

  void rotate_by(const Rotation* rotation, bool at_ranks) override {
    if (rotated_) rotator_ = Rotator(rotation, at_ranks);
  }

  void observe(const Observation& observation) override {
    dim_ = observation.keys.dim;
    key_width_ = observation.keys.numbers.size();
    width_ = key_width_ + observation.values.numbers.size();
    const auto append = [this](std::span<const float> numbers) {
      numbers_.insert(numbers_.end(), numbers.begin(), numbers.end());
    };
    append(observation.keys.numbers);
    append(observation.values.numbers);
    // A position never changes, so its rotation is done once; ranks change and are applied when a
    // token is scored.
    if (!rotator_.at_ranks()) {
      rotator_.rotate_to(observation.query, dim_,
                         std::span(numbers_).last(width_).first(key_width_));
    }
    scores_.push_back(not_scored);
    positions_.push_back(observation.query);
  }

  // Scores are computed here and not in observe, because a new candidate still has all its
  // following tokens beside it: only evictions make gaps, and they come after this.
  void evict(const Candidates& candidates, Draws&, std::vector<std::size_t>& victims) override {
    const std::size_t first = candidates.first_rank;
    const std::size_t n = candidates.positions.size();
    KV_CHECK(first + n <= scores_.size());
    find_seen(candidates);
    for (std::size_t rank = first; rank < first + n; ++rank) {
      if (scores_[rank] != not_scored) continue;
      if (partitions_ == LagPartitions::none) {
        scores_[rank] = score(rank);
      } else {
        score_partition(rank, first);
      }
    }
    append_lowest(std::span<const double>(scores_).subspan(first, n), n - candidates.capacity,
                  victims);
  }

  void forget(std::span<const std::size_t> ranks) override {
    erase_rows(numbers_, ranks, width_);
    erase_ranks(scores_, ranks);
    erase_ranks(positions_, ranks);
  }

  [[nodiscard]] std::unique_ptr<Policy> clone() const override {
    return std::make_unique<Lagkv>(*this);
  }

  void save(ByteWriter& writer) const override {
    for (const std::size_t size : {dim_, key_width_, width_}) writer.put(size);
    writer.put(scores_);
    writer.put(numbers_);
    writer.put(positions_);
  }

  void load(ByteReader& reader) override {
    for (std::size_t* size : {&dim_, &key_width_, &width_}) *size = reader.get<std::size_t>();
    reader.get(scores_);
    reader.get(numbers_);
    reader.get(positions_);
  }

 private:
  // The vectors that are compared: those of the residents, with keys at their ranks where these are
  // rotary positions and a candidate has no score yet.
  void find_seen(const Candidates& candidates) {
    seen_ = numbers_.data();
    if (!rotator_.moves()) return;
    const auto scores =
        std::span(scores_).subspan(candidates.first_rank, candidates.positions.size());
    if (std::ranges::find(scores, not_scored) == scores.end()) return;
    at_ranks_ = numbers_;
    rotator_.rotate_to_ranks(dim_, width_, key_width_, at_ranks_);
    seen_ = at_ranks_.data();
  }

  // The sum over the vectors of a token; 0 for a token that no other follows.
  [[nodiscard]] double score(std::size_t rank) {
    const std::size_t last = std::min(scores_.size() - 1, rank + lag_);
    if (last == rank) return 0;
    find_extremes(rank + 1, last);
    double sum = 0;
    for (std::size_t vector = 0; vector < width_; vector += dim_) sum += spread(rank, vector);
    return sum;
  }

  // Scores the piece of the token with that rank if the next piece is complete. The first piece
  // begins after `sinks` tokens.
  void score_partition(std::size_t rank, std::size_t sinks) {
    const std::size_t begin = sinks + (positions_[rank] - sinks) / lag_ * lag_;
    if (positions_.back() + std::size_t{1} < begin + 2 * lag_) return;
    const std::size_t first = rank_from(begin);
    const std::size_t reference = rank_from(begin + lag_);
    const std::size_t after = rank_from(begin + 2 * lag_);
    if (reference == after) return;  // all tokens of the reference have been evicted
    find_extremes(reference, after - 1);
    sums_.assign(reference - first, 0);
    for (std::size_t vector = 0; vector < width_; vector += dim_) {
      spreads_.clear();
      for (std::size_t r = first; r < reference; ++r) {
        spreads_.push_back(spread(r, vector));
      }
      add_softmax();
    }
    if (partitions_ == LagPartitions::ranked) rank_sums();
    std::ranges::copy(sums_, scores_.begin() + static_cast<std::ptrdiff_t>(first));
  }

  // The first resident at that position or after it.
  [[nodiscard]] std::size_t rank_from(std::size_t position) const {
    const auto found = std::ranges::lower_bound(positions_, position);
    return static_cast<std::size_t>(found - positions_.begin());
  }

  // Adds the softmax of spreads_ to sums_. Its inputs are standard deviations of samples, as in the
  // sources: variances are divided by the number of channels less one.
  void add_softmax() {
    const auto d = static_cast<double>(dim_);
    const double sample = dim_ > 1 ? std::sqrt(d / (d - 1)) : 1;
    const double highest = *std::ranges::max_element(spreads_);
    double sum = 0;
    for (double& value : spreads_) {
      value = std::exp(sample * (value - highest));
      sum += value;
    }
    for (std::size_t i = 0; i < sums_.size(); ++i) sums_[i] += spreads_[i] / sum;
  }

  // Replaces each sum by its rank from below, as a share of the piece. Among equal sums the older
  // token has the lower rank, so that it is evicted first.
  void rank_sums() {
    std::vector<std::size_t> order(sums_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [this](std::size_t i) { return sums_[i]; });
    for (std::size_t place = 0; place < order.size(); ++place) {
      sums_[order[place]] = static_cast<double>(place) / static_cast<double>(lag_);
    }
  }

  // The extremes of each channel of the ranks from `first` to `last`.
  void find_extremes(std::size_t first, std::size_t last) {
    const float* const row = seen_ + first * width_;
    least_.assign(row, row + width_);
    most_ = least_;
    for (std::size_t rank = first + 1; rank <= last; ++rank) {
      kernels().extend_bounds(seen_ + rank * width_, width_, least_.data(), most_.data());
    }
  }

  // The standard deviation of the channels of one vector of a rank, placed between the extremes.
  [[nodiscard]] double spread(std::size_t rank, std::size_t vector) const {
    double sum = 0;
    double squares = 0;
    for (std::size_t channel = vector; channel < vector + dim_; ++channel) {
      const auto least = static_cast<double>(least_[channel]);
      const double range = static_cast<double>(most_[channel]) - least;
      const double above = static_cast<double>(at(rank, channel)) - least;
      // Differences are taken in double: close floats would lose digits, and a range may overflow.
      const double placed = range > 0 ? above / range : 0;
      sum += placed;
      squares += placed * placed;
    }
    const auto channels = static_cast<double>(dim_);
    const double mean = sum / channels;
    return std::sqrt(std::max(squares / channels - mean * mean, 0.0));
  }

  [[nodiscard]] float at(std::size_t rank, std::size_t channel) const {
    return seen_[rank * width_ + channel];
  }

  std::size_t lag_;
  LagPartitions partitions_;
  bool rotated_;
  Rotator rotator_;                  // rotates nothing unless rotated_
  std::size_t dim_ = 0;              // of one vector
  std::size_t key_width_ = 0;        // of all keys of a token
  std::size_t width_ = 0;            // of all vectors of a token
  std::vector<double> scores_;       // [residents], by rank; not_scored until it is a candidate
  std::vector<float> numbers_;       // [residents, width]: keys, then values; keys rotated by their
                                     // positions, unless positions are ranks, which change
  std::vector<Position> positions_;  // [residents]
  const float* seen_ = nullptr;      // scratch, of a decision: numbers_, or those
  std::vector<float> at_ranks_;      // scratch: with keys at their ranks
  std::vector<float> least_, most_;  // scratch: [width]
  std::vector<double> spreads_;      // scratch: of one vector of a piece's tokens
  std::vector<double> sums_;         // scratch: of a piece's tokens
};

constexpr auto claims = std::array<std::string_view, 2>{"constant-size", "deterministic"};

constexpr auto partitionings = std::array<std::string_view, 3>{"none", "ranked", "scored"};
constexpr auto parameters = std::array<Parameter, 3>{{
    {.name = "lag",
     .default_value = "128",
     .meaning = "the number of following tokens against which a token is measured",
     .range = counts(1, 65536)},
    {.name = "partitions",
     .default_value = "none",
     .choices = partitionings,
     .meaning =
         "whether the middle is divided into the paper's partitions of lag tokens, each "
         "measured against the next: ranked keeps tokens by their rank within the partition, "
         "scored by their score; a budget below three partitions beside the sinks evicts most "
         "tokens before they have a score, as streaming does"},
    key_scores,
}};

LagPartitions partitions_of(std::string_view word) {
  if (word == "ranked") return LagPartitions::ranked;
  return word == "scored" ? LagPartitions::scored : LagPartitions::none;
}

}  // namespace

std::unique_ptr<Policy> make_lagkv(std::size_t lag, LagPartitions partitions, bool rotated) {
  return std::make_unique<Lagkv>(lag, partitions, rotated);
}

PolicyEntry lagkv_policy() {
  return {.name = "lagkv",
          .summary = "Evicts the tokens that vary least relative to the tokens after them.",
          .protection = {.sinks = 4},
          .parameters = parameters,
          .claims = claims,
          .source =
              "\"LagKV: Lag-Relative Information of the KV Cache "
              "Tells Which Tokens Are Important\", arXiv:2504.04704; code "
              "AI-Lab-China-Merchants-Bank/LagKV, lag_kv.py, and NVIDIA/kvpress, LagKVPress",
          .differs =
              "By default each token has a reference of its own and the middle is thinned as a "
              "whole; the source forms partitions (partitions=ranked). A partition of the source "
              "keeps a fixed share of its tokens; here the share falls as the text grows. Heads of "
              "a unit are averaged. Of equal scores the older token is evicted.",
          .cost =
              "O(lag * width) time a token, where width counts the numbers in its keys and values; "
              "12 bytes, and 4 for each of these numbers, per resident",
          .make = [](const Options& options) {
            return make_lagkv(options.count("lag"), partitions_of(options.at("partitions")),
                              scores_are_rotated(options));
          }};
}

}  // namespace kv
