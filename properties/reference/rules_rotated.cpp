// Executable specifications of policies that look at keys and queries after rotation.
#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "kvcheck/properties/reference/rules_places.h"

namespace kv::properties {
namespace {

using namespace vectors;

// expected-attention: what queries like all so far would pay at the next places, times the value's
// length. A key that stands d places before the first of these meets a query rotated by d, d + 1,
// ...
class ExpectedRule final : public RuleOf<ExpectedRule, ScoredByPlace> {
 public:
  explicit ExpectedRule(const Spec& spec)
      : RuleOf(spec),
        covariance_(spec.options.at("covariance")),
        norms_(spec.options.at("value-norm") == "yes"),
        future_(spec.options.count("future")),
        of_middle_(spec.options.at("softmax") == "middle"),
        epsilon_(spec.options.real("epsilon")),
        skip_(spec.options.count("skip")) {}

  std::vector<double> scores(const Choice& choice) override {
    meet(choice);
    return ScoredByPlace::scores(choice);
  }

 protected:
  std::vector<Position> selected(const Choice& choice, Draws& draws) override {
    meet(choice);
    return ScoredByPlace::selected(choice, draws);
  }

  [[nodiscard]] double score(Position p) const override {
    double sum = 0;
    const std::size_t heads = queries_.front().size();
    for (std::size_t head = 0; head < heads; ++head) {
      const std::size_t kv = head / (heads / keys_.at(p).size());
      double all = 0;
      for (const Position other : summed_) {
        all +=
            std::exp(exponent(head, meeting_.at(other)[kv]) - exponent(head, meeting_.at(p)[kv]));
      }
      sum += (1 / all + epsilon_) * (norms_ ? length(values_.at(p)[kv]) : 1);
    }
    return sum;
  }

 private:
  // Every key as the next queries meet it, and those over which expectations sum to 1.
  void meet(const Choice& choice) {
    summed_ = choice.middle;
    meeting_ = keys_;
    for (const auto& [p, keys] : keys_) {
      if (!of_middle_ && std::ranges::count(choice.middle, p) == 0) summed_.push_back(p);
    }
    for (auto& [p, keys] : meeting_) {
      const double ahead = next_place() - place_of(p);
      if (future_ == 0) continue;
      if (!rotations_.contains(ahead)) rotations_[ahead] = mean_rotation(-ahead, future_);
      for (Vector& key : keys) key = rotated(key, rotations_[ahead]);
    }
  }

  [[nodiscard]] double exponent(std::size_t head, const Vector& key) const {
    const auto counted = std::span(queries_).subspan(std::min(skip_, queries_.size()));
    const double count = std::max(1.0, static_cast<double>(counted.size()));
    Vector mean(input_dim);
    for (const auto& query : counted) {
      for (std::size_t i = 0; i < input_dim; ++i) mean[i] += query[head][i] / count;
    }
    double spread = 0;
    for (std::size_t i = 0; i < input_dim; ++i) {
      for (std::size_t j = 0; j < input_dim; ++j) {
        if (covariance_ == "none" || (covariance_ == "diagonal" && i != j)) continue;
        for (const auto& query : counted) {
          const double shared = (query[head][i] - mean[i]) * (query[head][j] - mean[j]) / count;
          spread += key[i] * shared * key[j];
        }
      }
    }
    const auto d = static_cast<double>(input_dim);
    return dot(key, mean) / std::sqrt(d) + spread / (2 * d);
  }

  std::string covariance_;
  bool norms_;
  std::size_t future_;
  bool of_middle_;
  double epsilon_;
  std::size_t skip_;
  std::vector<Position> summed_;                     // over which expectations sum to 1
  std::map<Position, std::vector<Vector>> meeting_;  // keys as the next queries meet them
  std::map<double, Vector> rotations_;               // by how far the next place is
};

// semantic-blocks: keeps the best whole blocks, and the newest tokens, which fill no block.
class BlocksRule final : public RuleOf<BlocksRule, ScoredByPlace> {
 public:
  explicit BlocksRule(const Spec& spec)
      : RuleOf(spec),
        block_(spec.options.count("block")),
        by_cosine_(spec.options.at("likeness") == "cosine"),
        rotated_(spec.options.at("scores") == "rotated") {}

  void take_inputs(Position token, const TokenInputs& own) override {
    ScoredByPlace::take_inputs(token, own);
    if (!rotated_) return;
    for (Vector& query : queries_.back()) query = rotated(query, mean_rotation(place_of(token), 1));
  }

 protected:
  std::vector<Position> selected(const Choice& choice, Draws&) override {
    const auto& middle = choice.middle;
    const std::size_t whole = middle.size() / block_ * block_;
    std::vector<Position> rest(middle.begin() + static_cast<std::ptrdiff_t>(whole), middle.end());
    while (rest.size() > choice.capacity) rest.erase(rest.begin());
    Vector scores;
    for (std::size_t at = 0; at < whole; at += block_) {
      scores.push_back(likeness({middle.begin() + static_cast<std::ptrdiff_t>(at),
                                 middle.begin() + static_cast<std::ptrdiff_t>(at + block_)}));
    }
    const std::size_t fitting = (choice.capacity - rest.size()) / block_;
    std::vector<Position> kept =
        tokens_of_blocks(middle, block_, highest_of(scores, fitting, doubtful_));
    kept.insert(kept.end(), rest.begin(), rest.end());
    return kept;
  }

 private:
  [[nodiscard]] double likeness(const std::vector<Position>& members) const {
    const auto& query = queries_.back();
    double sum = 0;
    for (std::size_t head = 0; head < query.size(); ++head) {
      const std::size_t kv = head / (query.size() / keys_.at(members[0]).size());
      Vector centre(input_dim);
      for (const Position p : members) {
        Vector key = keys_.at(p)[kv];
        if (rotated_) key = rotated(key, mean_rotation(place_of(p), 1));
        for (std::size_t i = 0; i < input_dim; ++i) {
          centre[i] += key[i] / static_cast<double>(block_);
        }
      }
      sum += by_cosine_ ? cosine(query[head], centre) : dot(query[head], centre);
    }
    return sum;
  }

  std::size_t block_;
  bool by_cosine_;
  bool rotated_;
};

}  // namespace

std::unique_ptr<Rule> rotated_rule_of(const Spec& spec) {
  const std::string_view name = spec.policy->name;
  if (name == "expected-attention") return std::make_unique<ExpectedRule>(spec);
  if (name == "semantic-blocks") return std::make_unique<BlocksRule>(spec);
  return nullptr;
}

}  // namespace kv::properties
