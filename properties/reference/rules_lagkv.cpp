// Executable specification of lagkv, with and without partitions.
#include <map>
#include <set>
#include <string>

#include "kvcheck/properties/reference/rules_detail.h"

namespace kv::properties {
namespace {

using namespace vectors;
using HeadsByToken = std::map<Position, std::vector<Vector>>;

// How far the channels of a token are spread beside those of its reference, told once; of
// partitions, the place within the partition or a softmax over it.
class LagkvRule final : public RuleOf<LagkvRule, ScoredByContent> {
 public:
  explicit LagkvRule(const Spec& spec)
      : lag_(spec.options.count("lag")),
        partitions_(spec.options.at("partitions")),
        sinks_(spec.sinks) {}

 protected:
  std::vector<Position> selected(const Choice& choice, Draws& draws) override {
    for (const Position p : choice.middle) {
      if (scores_.contains(p)) continue;
      if (partitions_ == "none") {
        const std::vector<Position> next = following(p, lag_);
        scores_[p] = 0;
        for (const HeadsByToken* kind : {&keys_, &values_}) {
          for (std::size_t head = 0; head < kind->at(p).size() && !next.empty(); ++head) {
            scores_[p] += spread(*kind, head, p, next);
          }
        }
      } else {
        judge(sinks_ + (p - sinks_) / lag_ * lag_);
      }
    }
    return ScoredByContent::selected(choice, draws);
  }

  // Who has no score goes last, the oldest first.
  [[nodiscard]] double score(Position p) const override {
    return scores_.contains(p) ? scores_.at(p) : 1e9;
  }

 private:
  // The residents after one, as many as there are of the next `count`.
  [[nodiscard]] std::vector<Position> following(Position p, std::size_t count) const {
    std::vector<Position> next;
    for (auto at = keys_.upper_bound(p); at != keys_.end() && next.size() < count; ++at) {
      next.push_back(at->first);
    }
    return next;
  }

  [[nodiscard]] std::vector<Position> residents(std::size_t begin, std::size_t end) const {
    std::vector<Position> all;
    for (const auto& [p, keys] : keys_) {
      if (p >= begin && p < end) all.push_back(p);
    }
    return all;
  }

  // The partition that begins there, if the next one is complete.
  void judge(std::size_t begin) {
    if (keys_.rbegin()->first + 1 < begin + 2 * lag_) return;
    const std::vector<Position> members = residents(begin, begin + lag_);
    const std::vector<Position> reference = residents(begin + lag_, begin + 2 * lag_);
    if (reference.empty()) return;
    std::map<Position, double> sums;
    for (const HeadsByToken* kind : {&keys_, &values_}) {
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
      if (margin != 0 && std::abs(margin) < rounding * sum) doubt();
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

}  // namespace

std::unique_ptr<Rule> lagkv_rule_of(const Spec& spec) {
  if (spec.policy->name == "lagkv") return std::make_unique<LagkvRule>(spec);
  return nullptr;
}

}  // namespace kv::properties
