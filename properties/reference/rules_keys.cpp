// Executable specifications of policies that compare keys with keys.
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "kvcheck/properties/reference/rules_places.h"

namespace kv::properties {
namespace {

using namespace vectors;

// keydiff: evicts the key most like the mean direction of all residents' keys.
class KeydiffRule final : public RuleOf<KeydiffRule, ScoredByKeys> {
 public:
  using RuleOf::RuleOf;

 protected:
  [[nodiscard]] double score(Position p) const override {
    double sum = 0;
    for (std::size_t head = 0; head < compared_.at(p).size(); ++head) {
      Vector anchor(input_dim);
      for (const auto& [other, keys] : compared_) {
        const double norm = length(keys[head]);
        for (std::size_t i = 0; i < input_dim && norm > 0; ++i) anchor[i] += keys[head][i] / norm;
      }
      sum += cosine(compared_.at(p)[head], anchor);
    }
    return -sum;
  }
};

using HeadsByToken = std::map<Position, std::vector<Vector>>;

// lagkv: how far the channels of a token are spread beside those of its reference, computed once;
// with partitions, the rank within the partition or a softmax over it.
class LagkvRule final : public RuleOf<LagkvRule, ScoredByKeys> {
 public:
  explicit LagkvRule(const Spec& spec)
      : RuleOf(spec),
        lag_(spec.options.count("lag")),
        partitions_(spec.options.at("partitions")),
        sinks_(spec.sinks) {
    ties_are_doubtful_ = false;
  }

 protected:
  std::vector<double> scores_of(const Choice& choice) override {
    for (const Position p : choice.middle) {
      if (scores_.contains(p)) continue;
      if (partitions_ == "none") {
        const std::vector<Position> next = following(p, lag_);
        scores_[p] = 0;
        for (const HeadsByToken* kind : {&compared_, &values_}) {
          for (std::size_t head = 0; head < kind->at(p).size() && !next.empty(); ++head) {
            scores_[p] += spread(*kind, head, p, next);
          }
        }
      } else {
        judge(sinks_ + (p - sinks_) / lag_ * lag_);
      }
    }
    return ScoredByKeys::scores_of(choice);
  }

  // Tokens without a score are evicted last, the oldest of them first.
  [[nodiscard]] double score(Position p) const override {
    return scores_.contains(p) ? scores_.at(p) : 1e9;
  }

 private:
  // The residents after one, as many as there are of the next `count`.
  [[nodiscard]] std::vector<Position> following(Position p, std::size_t count) const {
    std::vector<Position> next;
    for (auto at = compared_.upper_bound(p); at != compared_.end() && next.size() < count; ++at) {
      next.push_back(at->first);
    }
    return next;
  }

  [[nodiscard]] std::vector<Position> residents(std::size_t begin, std::size_t end) const {
    std::vector<Position> all;
    for (const auto& [p, keys] : compared_) {
      if (p >= begin && p < end) all.push_back(p);
    }
    return all;
  }

  // The partition that begins there, if the next one is complete.
  void judge(std::size_t begin) {
    if (compared_.rbegin()->first + 1 < begin + 2 * lag_) return;
    const std::vector<Position> members = residents(begin, begin + lag_);
    const std::vector<Position> reference = residents(begin + lag_, begin + 2 * lag_);
    if (reference.empty()) return;
    std::map<Position, double> sums;
    for (const HeadsByToken* kind : {&compared_, &values_}) {
      for (std::size_t head = 0; head < kind->begin()->second.size(); ++head) {
        double all = 0;
        std::map<Position, double> exponents;
        for (const Position p : members) {
          const double sample = std::sqrt(input_dim / (input_dim - 1.0));
          exponents[p] = std::exp(sample * spread(*kind, head, p, reference));
          all += exponents[p];
        }
        for (const Position p : members) sums[p] += exponents[p] / all;
      }
    }
    for (const Position p : members) {
      scores_[p] = partitions_ == "scored" ? sums[p] : place(sums, p);
    }
  }

  // How many of the partition are below, of equals the older.
  double place(const std::map<Position, double>& sums, Position p) {
    double below = 0;
    for (const auto& [other, sum] : sums) {
      const double margin = sums.at(p) - sum;
      doubtful_ |= margin != 0 && std::abs(margin) < rounding * sum;
      below += sum < sums.at(p) || (sum == sums.at(p) && other < p) ? 1 : 0;
    }
    return below;
  }

  [[nodiscard]] static double spread(const HeadsByToken& kind,
                                     std::size_t head,
                                     Position p,
                                     const std::vector<Position>& reference) {
    Vector placed;
    for (std::size_t i = 0; i < input_dim; ++i) {
      std::set<double> there;
      for (const Position other : reference) there.insert(kind.at(other)[head][i]);
      const double range = *there.rbegin() - *there.begin();
      const double above = kind.at(p)[head][i] - *there.begin();
      placed.push_back(range > 0 ? above / range : 0);
    }
    double mean = 0;
    for (const double x : placed) mean += x / static_cast<double>(input_dim);
    double variance = 0;
    for (const double x : placed) {
      variance += (x - mean) * (x - mean) / static_cast<double>(input_dim);
    }
    return std::sqrt(variance);
  }

  std::size_t lag_;
  std::string partitions_;
  std::size_t sinks_;
  std::map<Position, double> scores_;
};

// rkv: lambda * importance - (1 - lambda) * redundancy, from the whole table of cosines.
class RkvRule final : public RuleOf<RkvRule, ScoredByKeys> {
 public:
  explicit RkvRule(const Spec& spec)
      : RuleOf(spec),
        reach_(spec.options.count("kernel") / 2),
        lambda_(spec.options.real("lambda")),
        threshold_(spec.options.real("threshold")),
        of_middle_(spec.options.at("importance") == "middle"),
        exempts_first_(spec.options.at("lone") == "first"),
        recent_(spec.options.count("window")) {}

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
        importance = std::max(importance, of_middle_ ? recent_.mean_share(middle[j], middle)
                                                     : recent_.mean(middle[j]));
      }
      scores.push_back(lambda_ * importance - (1 - lambda_) * repeats.at(middle[i]));
    }
    return scores;
  }

 private:
  // The mean over heads of the softmax of mean cosines.
  std::map<Position, double> redundancy() {
    std::map<Position, double> mean;
    const std::size_t heads = compared_.begin()->second.size();
    for (std::size_t head = 0; head < heads; ++head) {
      std::map<Position, double> exponents;
      double sum = 0;
      for (const auto& [p, charged] : charges(head)) {
        exponents[p] = std::exp(charged / static_cast<double>(compared_.size()));
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
    for (const auto& [p, own] : compared_) {
      std::map<Position, double> cosines;
      // p itself: no token is exempt
      Position exempt = exempts_first_ ? compared_.begin()->first : p;
      for (const auto& [other, keys] : compared_) {
        if (other == p) continue;
        cosines[other] = cosine(own[head], keys[head]);
        if (cosines[other] > threshold_) exempt = other;
        // Both sides know the same keys in double precision, unless they were rotated.
        doubtful_ |= std::abs(cosines[other] - threshold_) < (are_rotated() ? 1e-6 : 1e-9);
      }
      sums[p] += 0;
      for (const auto& [other, value] : cosines) sums[other] += other == exempt ? 0 : value;
    }
    return sums;
  }

  std::size_t reach_;
  double lambda_;
  double threshold_;
  bool of_middle_;
  bool exempts_first_;
  RecentMass recent_;
};

}  // namespace

std::unique_ptr<Rule> keys_rule_of(const Spec& spec) {
  const std::string_view name = spec.policy->name;
  if (name == "keydiff") return std::make_unique<KeydiffRule>(spec);
  if (name == "lagkv") return std::make_unique<LagkvRule>(spec);
  if (name == "rkv") return std::make_unique<RkvRule>(spec);
  return nullptr;
}

}  // namespace kv::properties
