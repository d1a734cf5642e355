#include "kvcheck/policies/sampling/reservoir_chao.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "kvcheck/policies/parts/one_by_one.h"
#include "kvcheck/policies/policy.h"
#include "kvcheck/policies/sampling/weighted_middle.h"

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
    writer.put(rest_);
    middle_.save(writer);
  }

  void load(ByteReader& reader) override {
    weights_.load(reader);
    rest_ = reader.get<double>();
    middle_.load(reader);
  }

 protected:
  std::size_t select(const Candidates& candidates, Draws& draws) override {
    const std::size_t k = candidates.capacity;
    const auto add = [&](std::size_t i) {
      return middle_.add(candidates.positions[i], weights_.at(candidates.first_rank + i));
    };
    // The first k tokens were kept without a draw, so each was kept with certainty.
    while (middle_.size() < k) middle_.make_overweight(add(middle_.size()));
    const std::size_t newcomer = add(k);
    const std::size_t others = k - middle_.overweight();
    find_overweight(newcomer, k);
    const std::size_t victim = draw_victim(newcomer, others, draws);
    for (const std::size_t token : released_) middle_.make_light(token);
    const auto at = std::ranges::lower_bound(candidates.positions, middle_.position(victim));
    middle_.remove(victim);
    return static_cast<std::size_t>(at - candidates.positions.begin());
  }

 private:
  // The newcomer and the tokens that were overweight before may be overweight now; the share of
  // every other token only falls as the total grows. A token fails if its share of the places and
  // of the weight that heavier tokens leave is below one, and then all lighter tokens fail too, so
  // that the lightest are released until one passes.
  void find_overweight(std::size_t newcomer, std::size_t k) {
    middle_.make_overweight(newcomer);
    released_.clear();
    while (middle_.overweight() > 0) {
      const std::size_t lightest = middle_.lightest();
      const double weight = middle_.weight(lightest);
      const std::size_t heavier = middle_.overweight() - 1;
      if (heavier < k && static_cast<double>(k - heavier) * weight >= rest_ + weight) break;
      middle_.release_lightest();
      released_.push_back(lightest);
      rest_ += weight;
    }
    places_ = static_cast<double>(k - middle_.overweight());
    std::ranges::sort(released_);  // by arrival, the order in which draws consider them
  }

  [[nodiscard]] double chance(std::size_t token) const {
    return middle_.is_overweight(token) ? 1 : places_ * middle_.weight(token) / rest_;
  }

  // `others` of the older tokens were not overweight before.
  [[nodiscard]] std::size_t draw_victim(std::size_t newcomer,
                                        std::size_t others,
                                        Draws& draws) const {
    const Position position = middle_.position(newcomer);
    const double enters = chance(newcomer);
    if (draws.uniform(position, 0) >= enters) return newcomer;
    double left = draws.uniform(position, 1);
    double share = 1;
    std::size_t last = newcomer;
    for (const std::size_t token : released_) {
      if (token == newcomer) continue;
      const double falls = (1 - chance(token)) / enters;
      left -= falls;
      if (left < 0) return token;
      share -= falls;
      last = token;
    }
    // If every token was certain before, rounding may still leave a positive `left`. The last token
    // that is not certain now is then the victim.
    if (others == 0) return last;
    const double each = share / static_cast<double>(others);
    // Rounding may leave more than all others have.
    const bool past = left >= each * static_cast<double>(others);
    return middle_.light(past ? others - 1
                              : std::min(static_cast<std::size_t>(left / each), others - 1));
  }

  TokenWeights weights_;
  WeightedMiddle middle_;
  double rest_ = 0;    // the weight of all that ever entered the middle, without the overweight
  double places_ = 0;  // scratch: of k, those that the overweight leave
  std::vector<std::size_t> released_;  // scratch: tokens that are no longer overweight
};

constexpr auto claims = std::array<std::string_view, 1>{"constant-size"};

}  // namespace

std::unique_ptr<Policy> make_reservoir_chao(Weight weight) {
  return std::make_unique<ReservoirChao>(weight);
}

PolicyEntry reservoir_chao_policy() {
  return {
      .name = "reservoir-chao",
      .summary = "Samples the middle with probabilities in proportion to the tokens' weights.",
      .protection = {.sinks = 4},
      .parameters = weight_parameters(),
      .claims = claims,
      .source =
          "Chao, \"A general purpose unequal probability sampling plan\", Biometrika "
          "69(3), 1982, section 2",
      .differs = "nothing in the algorithm; its use as an eviction policy is our own",
      .cost =
          "O(log k) time and two draws a token; O(residents) a query for weight=attention; up to "
          "64 bytes per middle token and 8 (attention: 16) per resident",
      .make = [](const Options& options) { return make_reservoir_chao(weight_of(options)); }};
}

}  // namespace kv
