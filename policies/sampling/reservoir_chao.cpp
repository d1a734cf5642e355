#include "kvcheck/policies/sampling/reservoir_chao.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <string_view>

#include "kvcheck/policies/parts/by_rank.h"
#include "kvcheck/policies/parts/one_by_one.h"
#include "kvcheck/policies/policy.h"

namespace kv {
namespace {

class ReservoirChao final : public OneByOne {
 public:
  explicit ReservoirChao(Weight weight) : weights_(weight) {}

  [[nodiscard]] Needs needs() const override { return weights_.needs(); }

  void observe(const Observation& observation) override { weights_.observe(observation); }

  void forget(std::span<const std::size_t> ranks) override { weights_.forget(ranks); }

  [[nodiscard]] std::unique_ptr<Policy> clone() const override {
    return std::make_unique<ReservoirChao>(*this);
  }

  void save(ByteWriter& writer) const override {
    weights_.save(writer);
    writer.put(total_);
    writer.put(held_);
    for (const std::uint8_t sure : sure_) writer.put(sure);
  }

  void load(ByteReader& reader) override {
    weights_.load(reader);
    total_ = reader.get<double>();
    reader.get(held_);
    sure_.resize(held_.size());
    for (std::uint8_t& sure : sure_) sure = reader.get<std::uint8_t>();
  }

 protected:
  std::size_t select(const Candidates& candidates, Draws& draws) override {
    const std::size_t k = candidates.capacity;
    // The first k tokens were kept without a draw, so each was kept with certainty.
    for (std::size_t i = held_.size(); i <= k; ++i) {
      held_.push_back(weights_.at(candidates.first_rank + i));
      sure_.push_back(i < k ? 1 : 0);
      total_ += held_.back();
    }
    was_sure_ = sure_;
    find_overweight(k);
    const std::size_t victim = draw_victim(k, candidates.positions.back(), draws);
    held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(victim));
    sure_.erase(sure_.begin() + static_cast<std::ptrdiff_t>(victim));
    return victim;
  }

 private:
  // Finds the overweight tokens: the heaviest first, as long as a token's share of the remaining
  // places is one or more. Only the newcomer, which is held last, and the tokens that were
  // overweight before are searched: the share of every other token only falls as the total grows.
  void find_overweight(std::size_t k) {
    order_.clear();
    for (std::size_t i = 0; i < k; ++i) {
      if (sure_[i] != 0) order_.push_back(i);
    }
    order_.push_back(k);
    std::ranges::sort(order_, [this](std::size_t a, std::size_t b) {
      return held_[a] > held_[b] || (held_[a] == held_[b] && a < b);
    });
    std::ranges::fill(sure_, std::uint8_t{0});
    places_ = static_cast<double>(k);
    weight_ = total_;
    for (const std::size_t i : order_) {
      if (places_ < 1 || places_ * held_[i] < weight_) break;
      sure_[i] = 1;
      places_ -= 1;
      weight_ -= held_[i];
    }
  }

  [[nodiscard]] double chance(std::size_t i) const {
    return sure_[i] != 0 ? 1 : places_ * held_[i] / weight_;
  }

  [[nodiscard]] std::size_t draw_victim(std::size_t k, Position newcomer, Draws& draws) const {
    const double enters = chance(k);
    if (draws.uniform(newcomer, 0) >= enters) return k;
    double left = draws.uniform(newcomer, 1);
    std::size_t others = 0;
    for (std::size_t i = 0; i < k; ++i) {
      if (was_sure_[i] == 0) ++others;
      if (was_sure_[i] == 0 || sure_[i] != 0) continue;
      left -= (1 - chance(i)) / enters;
      if (left < 0) return i;
    }
    return draw_other(k, left, enters, others);
  }

  // Draws uniformly from the tokens that were not certain before. `left` is the rest of a uniform
  // number after the shares of the formerly certain tokens are subtracted.
  [[nodiscard]] std::size_t draw_other(std::size_t k,
                                       double left,
                                       double enters,
                                       std::size_t others) const {
    double share = 1;
    for (std::size_t i = 0; i < k; ++i) {
      if (was_sure_[i] != 0 && sure_[i] == 0) share -= (1 - chance(i)) / enters;
    }
    std::size_t last = k;
    for (std::size_t i = 0; i < k; ++i) {
      // If every token was certain before, rounding may still leave a positive `left`. The last
      // token that is not certain now is then the victim.
      if (was_sure_[i] != 0 && (others > 0 || sure_[i] != 0)) continue;
      last = i;
      left -= others > 0 ? share / static_cast<double>(others) : 0;
      if (others > 0 && left < 0) return i;
    }
    return last;
  }

  TokenWeights weights_;
  double total_ = 0;                    // the weight of all that ever entered the middle
  std::vector<double> held_;            // [k], weights of the middle in stream order
  std::vector<std::uint8_t> sure_;      // [k]: overweight
  double places_ = 0;                   // of a decision: what is left of k beside the overweight,
  double weight_ = 0;                   // and of the total
  std::vector<std::uint8_t> was_sure_;  // scratch
  std::vector<std::size_t> order_;      // scratch
};

constexpr auto claims = std::array<std::string_view, 1>{"constant-size"};

}  // namespace

std::unique_ptr<Policy> make_reservoir_chao(Weight weight) {
  return std::make_unique<ReservoirChao>(weight);
}

PolicyEntry reservoir_chao_policy() {
  return {.name = "reservoir-chao",
          .summary = "Samples the middle with probabilities in proportion to the tokens' weights.",
          .protection = {.sinks = 4},
          .parameters = weight_parameters(),
          .claims = claims,
          .source =
              "Chao, \"A general purpose unequal probability sampling plan\", Biometrika "
              "69(3), 1982, section 2",
          .differs = "nothing in the algorithm; its use as an eviction policy is our own",
          .cost =
              "O(k + s log s) time and two draws a token, where s tokens are overweight; "
              "O(residents) a query for weight=attention; 9 bytes per middle token and 8 "
              "(attention: 16) per resident",
          .make = [](const Options& options) { return make_reservoir_chao(weight_of(options)); }};
}

}  // namespace kv
