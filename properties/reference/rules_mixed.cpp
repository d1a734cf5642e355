// Executable specifications of policies that look at attention and at what tokens bring.
#include <map>
#include <string_view>

#include "kvcheck/properties/reference/rules_detail.h"

namespace kv::properties {
namespace {

using namespace vectors;

// rkv: lambda * importance - (1 - lambda) * redundancy, from the whole table of cosines.
class RkvRule final : public RuleOf<RkvRule, ScoredByContent> {
 public:
  explicit RkvRule(const Options& options)
      : reach_(options.count("kernel") / 2),
        lambda_(options.real("lambda")),
        threshold_(options.real("threshold")),
        recent_(options.count("window")) {}

  [[nodiscard]] bool wants_mass() const override { return true; }

  void observe(const Attention& paid, Draws&) override { recent_.observe(paid); }

  // Its scores are of one unit's keys.
  std::vector<double> scores(const Choice&) override { return {}; }

 protected:
  std::vector<double> scores_of(const Choice& choice) override {
    const auto& middle = choice.middle;
    const std::map<Position, double> repeats = redundancy();
    std::vector<double> scores;
    for (std::size_t i = 0; i < middle.size(); ++i) {
      double importance = 0;
      for (std::size_t j = 0; j < middle.size(); ++j) {
        if (j + reach_ < i || j > i + reach_) continue;
        importance = std::max(importance, recent_.mean(middle[j]));
      }
      scores.push_back(lambda_ * importance - (1 - lambda_) * repeats.at(middle[i]));
    }
    return scores;
  }

 private:
  // The mean over heads of the softmax of mean cosines.
  std::map<Position, double> redundancy() {
    std::map<Position, double> mean;
    const std::size_t heads = keys_.begin()->second.size();
    for (std::size_t head = 0; head < heads; ++head) {
      std::map<Position, double> exponents;
      double sum = 0;
      for (const auto& [p, charged] : charges(head)) {
        exponents[p] = std::exp(charged / static_cast<double>(keys_.size()));
        sum += exponents[p];
      }
      for (const auto& [p, e] : exponents) mean[p] += e / sum / static_cast<double>(heads);
    }
    return mean;
  }

  // For each resident the sum of others' cosines with it, but of those whose newest look-alike it
  // is.
  std::map<Position, double> charges(std::size_t head) {
    std::map<Position, double> sums;
    for (const auto& [p, own] : keys_) {
      std::map<Position, double> cosines;
      Position exempt = p;  // p itself: no token is exempt
      for (const auto& [other, keys] : keys_) {
        if (other == p) continue;
        cosines[other] = cosine(own[head], keys[head]);
        if (cosines[other] > threshold_) exempt = other;
        // Both sides know the same keys, in double precision.
        doubtful_ |= std::abs(cosines[other] - threshold_) < 1e-9;
      }
      sums[p] += 0;
      for (const auto& [other, value] : cosines) sums[other] += other == exempt ? 0 : value;
    }
    return sums;
  }

  std::size_t reach_;
  double lambda_;
  double threshold_;
  RecentMass recent_;
};

}  // namespace

std::unique_ptr<Rule> mixed_rule_of(const Spec& spec) {
  if (spec.policy->name == "rkv") return std::make_unique<RkvRule>(spec.options);
  return nullptr;
}

}  // namespace kv::properties
