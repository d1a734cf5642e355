// Executable specifications of policies that look at what tokens bring.
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "properties/model_rules_detail.h"

namespace kv {
namespace {

using namespace vectors;

// Remembers what every token brought, and who is still there.
class ScoredByContent : public Scored {
 public:
  [[nodiscard]] bool wants_brought() const override { return true; }

  void met(Position token, const Brought& own) override {
    keys_[token] = heads_of(own.keys);
    values_[token] = heads_of(own.values);
    queries_.push_back(heads_of(own.queries));
    classes_[token] = own.token_class;
  }

  void lost(Position token) override { keys_.erase(token); }

  std::vector<Position> stay(const Choice& choice, Draws& draws) override {
    std::vector<Position> staying = chosen(choice, draws);
    for (const Position p : choice.middle) {
      if (!std::ranges::binary_search(staying, p)) keys_.erase(p);
    }
    return staying;
  }

 protected:
  virtual std::vector<Position> chosen(const Choice& choice, Draws& draws) {
    return Scored::stay(choice, draws);
  }

  [[nodiscard]] double score(Position) const override { return 0; }

  std::map<Position, std::vector<Vector>> keys_;  // of residents, sinks and recents among them
  std::map<Position, std::vector<Vector>> values_;
  std::vector<std::vector<Vector>> queries_;
  std::map<Position, TokenClass> classes_;
};

// key-norm: the longest key goes.
class KeyNormRule final : public RuleOf<KeyNormRule, ScoredByContent> {
 public:
  [[nodiscard]] bool in_bulk() const override { return false; }

 protected:
  [[nodiscard]] double score(Position p) const override {
    double sum = 0;
    for (const Vector& key : keys_.at(p)) sum += length(key);
    return -sum;
  }
};

// keydiff: the key most like the mean direction of all residents' goes.
class KeydiffRule final : public RuleOf<KeydiffRule, ScoredByContent> {
 protected:
  [[nodiscard]] double score(Position p) const override {
    double sum = 0;
    for (std::size_t head = 0; head < keys_.at(p).size(); ++head) {
      Vector anchor(brought_dim);
      for (const auto& [other, keys] : keys_) {
        const double norm = length(keys[head]);
        for (std::size_t i = 0; i < brought_dim && norm > 0; ++i) anchor[i] += keys[head][i] / norm;
      }
      sum += cosine(keys_.at(p)[head], anchor);
    }
    return -sum;
  }
};

// lagkv: how far the channels are spread beside those of the next tokens, told once.
class LagkvRule final : public RuleOf<LagkvRule, ScoredByContent> {
 public:
  explicit LagkvRule(std::size_t lag) : lag_(lag) {}

 protected:
  std::vector<Position> chosen(const Choice& choice, Draws& draws) override {
    for (const Position p : choice.middle) {
      if (!scores_.contains(p)) scores_[p] = spread(keys_, p) + spread(values_, p);
    }
    return ScoredByContent::chosen(choice, draws);
  }

  [[nodiscard]] double score(Position p) const override { return scores_.at(p); }

 private:
  [[nodiscard]] double spread(const std::map<Position, std::vector<Vector>>& vectors,
                              Position p) const {
    double sum = 0;
    for (std::size_t head = 0; head < vectors.at(p).size(); ++head) {
      Vector placed;
      for (std::size_t i = 0; i < brought_dim; ++i) {
        std::set<double> reference;
        auto after = vectors.upper_bound(p);
        for (std::size_t n = 0; n < lag_ && after != vectors.end(); ++n, ++after) {
          reference.insert(after->second[head][i]);
        }
        if (reference.empty()) return 0;
        const double range = *reference.rbegin() - *reference.begin();
        const double above = vectors.at(p)[head][i] - *reference.begin();
        placed.push_back(range > 0 ? above / range : 0);
      }
      double mean = 0;
      for (const double x : placed) mean += x / static_cast<double>(brought_dim);
      double variance = 0;
      for (const double x : placed) {
        variance += (x - mean) * (x - mean) / static_cast<double>(brought_dim);
      }
      sum += std::sqrt(variance);
    }
    return sum;
  }

  std::size_t lag_;
  std::map<Position, double> scores_;
};

// expected-attention: what queries like all so far would pay, times the value's length.
class ExpectedRule final : public RuleOf<ExpectedRule, ScoredByContent> {
 public:
  ExpectedRule(std::string covariance, bool norms)
      : covariance_(std::move(covariance)), norms_(norms) {}

 protected:
  [[nodiscard]] double score(Position p) const override {
    double sum = 0;
    const std::size_t heads = queries_.front().size();
    for (std::size_t head = 0; head < heads; ++head) {
      const std::size_t kv = head / (heads / keys_.at(p).size());
      double all = 0;
      for (const auto& [other, keys] : keys_) {
        all += std::exp(exponent(head, keys[kv]) - exponent(head, keys_.at(p)[kv]));
      }
      sum += (norms_ ? length(values_.at(p)[kv]) : 1) / all;
    }
    return sum;
  }

 private:
  [[nodiscard]] double exponent(std::size_t head, const Vector& key) const {
    const auto count = static_cast<double>(queries_.size());
    Vector mean(brought_dim);
    for (const auto& query : queries_) {
      for (std::size_t i = 0; i < brought_dim; ++i) mean[i] += query[head][i] / count;
    }
    double spread = 0;
    for (std::size_t i = 0; i < brought_dim; ++i) {
      for (std::size_t j = 0; j < brought_dim; ++j) {
        if (covariance_ == "none" || (covariance_ == "diagonal" && i != j)) continue;
        for (const auto& query : queries_) {
          const double shared = (query[head][i] - mean[i]) * (query[head][j] - mean[j]) / count;
          spread += key[i] * shared * key[j];
        }
      }
    }
    const auto d = static_cast<double>(brought_dim);
    return dot(key, mean) / std::sqrt(d) + spread / (2 * d);
  }

  std::string covariance_;
  bool norms_;
};

// semantic-blocks: whole blocks, the best of them; the rest stays.
class BlocksRule final : public RuleOf<BlocksRule, ScoredByContent> {
 public:
  BlocksRule(std::size_t block, bool by_cosine) : block_(block), by_cosine_(by_cosine) {}

 protected:
  std::vector<Position> chosen(const Choice& choice, Draws&) override {
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
    bool unsure = false;
    std::vector<Position> staying;
    for (const std::size_t i : highest_of(scores, std::min(fitting, scores.size()), unsure)) {
      for (std::size_t j = 0; j < block_; ++j) staying.push_back(middle[i * block_ + j]);
    }
    if (unsure) doubt();
    staying.insert(staying.end(), rest.begin(), rest.end());
    return staying;
  }

 private:
  [[nodiscard]] double likeness(const std::vector<Position>& members) const {
    const auto& query = queries_.back();
    double sum = 0;
    for (std::size_t head = 0; head < query.size(); ++head) {
      const std::size_t kv = head / (query.size() / keys_.at(members[0]).size());
      Vector centre(brought_dim);
      for (const Position p : members) {
        for (std::size_t i = 0; i < brought_dim; ++i) {
          centre[i] += keys_.at(p)[kv][i] / static_cast<double>(block_);
        }
      }
      sum += by_cosine_ ? cosine(query[head], centre) : dot(query[head], centre);
    }
    return sum;
  }

  std::size_t block_;
  bool by_cosine_;
};

// token-classes, separators: others go first, the oldest of them; then the kept class.
class ClassesRule final : public RuleOf<ClassesRule, ScoredByContent> {
 public:
  ClassesRule(TokenClass kept, bool oldest_first) : kept_(kept), oldest_first_(oldest_first) {}

  [[nodiscard]] bool in_bulk() const override { return false; }

 protected:
  std::vector<Position> chosen(const Choice& choice, Draws&) override {
    std::vector<Position> middle = choice.middle;
    const auto other =
        std::ranges::find_if(middle, [&](Position p) { return classes_.at(p) != kept_; });
    if (other == middle.end() && oldest_first_) {
      middle.pop_back();
    } else {
      middle.erase(other == middle.end() ? middle.begin() : other);
    }
    return middle;
  }

 private:
  TokenClass kept_;
  bool oldest_first_;
};

}  // namespace

std::unique_ptr<Rule> content_rule_of(const Spec& spec) {
  const std::string_view name = spec.policy->name;
  const Options& options = spec.options;
  if (name == "key-norm") return std::make_unique<KeyNormRule>();
  if (name == "keydiff") return std::make_unique<KeydiffRule>();
  if (name == "lagkv") return std::make_unique<LagkvRule>(options.count("lag"));
  if (name == "expected-attention") {
    return std::make_unique<ExpectedRule>(options.at("covariance"),
                                          options.at("value-norm") == "yes");
  }
  if (name == "semantic-blocks") {
    return std::make_unique<BlocksRule>(options.count("block"), options.at("likeness") == "cosine");
  }
  if (name == "token-classes" || name == "separators") {
    return std::make_unique<ClassesRule>(
        name == "separators" ? TokenClass::separator : TokenClass::content,
        options.at("order") == "oldest");
  }
  return nullptr;
}

}  // namespace kv
