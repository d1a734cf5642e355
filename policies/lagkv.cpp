#include "policies/lagkv.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

#include "base/check.h"
#include "policies/by_rank.h"
#include "policies/rows.h"

namespace kv {
namespace {

constexpr double not_scored = std::numeric_limits<double>::infinity();

class Lagkv final : public Policy {
 public:
  explicit Lagkv(std::size_t lag) : lag_(lag) { KV_CHECK(lag >= 1); }

  [[nodiscard]] Needs needs() const override { return {.keys = true, .values = true}; }

  [[nodiscard]] Leaving leaving() const override { return Leaving::in_bulk; }

  void observe(const Observation& observation) override {
    dim_ = observation.keys.dim;
    width_ = observation.keys.numbers.size() + observation.values.numbers.size();
    const auto append = [this](std::span<const float> numbers) {
      numbers_.insert(numbers_.end(), numbers.begin(), numbers.end());
    };
    append(observation.keys.numbers);
    append(observation.values.numbers);
    scores_.push_back(not_scored);
  }

  // Whoever may go for the first time still has all that came after it beside it: it is evictions
  // that make gaps, and they come after this.
  void evict(const Candidates& candidates, Draws&, std::vector<std::size_t>& victims) override {
    const std::size_t first = candidates.first_rank;
    const std::size_t n = candidates.positions.size();
    KV_CHECK(first + n <= scores_.size());
    for (std::size_t rank = first; rank < first + n; ++rank) {
      if (scores_[rank] == not_scored) scores_[rank] = score(rank);
    }
    append_lowest(std::span<const double>(scores_).subspan(first, n), n - candidates.capacity,
                  victims);
  }

  void forget(std::span<const std::size_t> ranks) override {
    erase_rows(numbers_, ranks, width_);
    erase_ranks(scores_, ranks);
  }

  [[nodiscard]] std::unique_ptr<Policy> clone() const override {
    return std::make_unique<Lagkv>(*this);
  }

  void save(ByteWriter& writer) const override {
    writer.put(dim_);
    writer.put(width_);
    writer.put(scores_);
    writer.put(numbers_);
  }

  void load(ByteReader& reader) override {
    dim_ = reader.get<std::size_t>();
    width_ = reader.get<std::size_t>();
    reader.get(scores_);
    reader.get(numbers_);
  }

 private:
  // The sum over the vectors of a token; 0 for a token that nobody came after.
  [[nodiscard]] double score(std::size_t rank) const {
    const std::size_t last = std::min(scores_.size() - 1, rank + lag_);
    double sum = 0;
    for (std::size_t vector = 0; vector < width_ && last > rank; vector += dim_) {
      sum += spread(rank, last, vector);
    }
    return sum;
  }

  // The standard deviation of the channels of one vector, placed between the extremes of the ranks
  // after it up to `last`.
  [[nodiscard]] double spread(std::size_t rank, std::size_t last, std::size_t vector) const {
    double sum = 0;
    double squares = 0;
    for (std::size_t channel = vector; channel < vector + dim_; ++channel) {
      float least = at(rank + 1, channel);
      float most = least;
      for (std::size_t after = rank + 2; after <= last; ++after) {
        least = std::min(least, at(after, channel));
        most = std::max(most, at(after, channel));
      }
      const double range = static_cast<double>(most) - static_cast<double>(least);
      const double above = static_cast<double>(at(rank, channel)) - static_cast<double>(least);
      const double placed = range > 0 ? above / range : 0;
      sum += placed;
      squares += placed * placed;
    }
    const auto channels = static_cast<double>(dim_);
    const double mean = sum / channels;
    return std::sqrt(std::max(squares / channels - mean * mean, 0.0));
  }

  [[nodiscard]] float at(std::size_t rank, std::size_t channel) const {
    return numbers_[rank * width_ + channel];
  }

  std::size_t lag_;
  std::size_t dim_ = 0;         // of one vector
  std::size_t width_ = 0;       // of all vectors of a token
  std::vector<double> scores_;  // [residents], by rank; not_scored until it first may go
  std::vector<float> numbers_;  // [residents, width]: keys, then values
};

constexpr auto claims = std::array<std::string_view, 2>{"constant-size", "deterministic"};

constexpr auto parameters = std::array<Parameter, 1>{{
    {.name = "lag",
     .default_value = "128",
     .meaning = "how many of the tokens after it a token is measured against",
     .range = counts(1, 65536)},
}};

}  // namespace

std::unique_ptr<Policy> make_lagkv(std::size_t lag) {
  return std::make_unique<Lagkv>(lag);
}

PolicyEntry lagkv_policy() {
  return {.name = "lagkv",
          .summary = "Drops the tokens that are plainest beside those that came after them.",
          .protection = {.sinks = 4},
          .parameters = parameters,
          .claims = claims,
          .source =
              "\"LagKV: Lag-Relative Information of the KV Cache "
              "Tells Which Tokens Are Important\", arXiv:2504.04704; code NVIDIA/kvpress, "
              "LagKVPress",
          .differs =
              "there partitions of lag tokens are measured against the next and thinned "
              "alone; here each token has a reference of its own and the middle is thinned "
              "as a whole; keys are those before rotation; among equals the older goes",
          .cost =
              "O(lag * width) time a token, width being the numbers of its keys and values; 8 "
              "bytes, and 4 for each of these, per resident",
          .make = [](const Options& options) { return make_lagkv(options.count("lag")); }};
}

}  // namespace kv
