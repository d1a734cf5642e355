// Executable specifications of queues and of samplers with weights.
#include <map>
#include <string>
#include <string_view>

#include "kvcheck/properties/reference/rules_detail.h"

namespace kv::properties {
namespace {

// fifo: evicts the oldest.
class FifoRule final : public RuleOf<FifoRule> {
 public:
  std::vector<Position> keep(const Choice& choice, Draws&) override {
    return {choice.middle.begin() + 1, choice.middle.end()};
  }
};

// pages: evicts the whole oldest page. Of a pinned first page it evicts only what it must; if that
// page is masked, its evicted rows remain stored.
class PagesRule final : public RuleOf<PagesRule> {
 public:
  PagesRule(std::size_t page, const std::string& first, std::uint32_t sinks)
      : page_(page), pins_(first == "pinned"), masks_(first == "masked"), sinks_(sinks) {}

  // Its page begins with a sink.
  [[nodiscard]] bool masks(Position token) const override {
    return masks_ && token - token % page_ < sinks_;
  }

  std::vector<Position> keep(const Choice& choice, Draws&) override {
    std::vector<Position> pinned;
    std::vector<Position> others;
    for (const Position p : choice.middle) (pins_ && p < page_ ? pinned : others).push_back(p);
    if (others.empty()) return {pinned.begin(), pinned.end() - 1};
    const std::size_t oldest = others.front() / page_;
    std::erase_if(others, [&](Position p) { return p / page_ == oldest; });
    pinned.insert(pinned.end(), others.begin(), others.end());
    return pinned;
  }

 private:
  std::size_t page_;
  bool pins_;
  bool masks_;
  std::uint32_t sinks_;
};

// paged-eviction: evicts the page of the middle with the lowest mean of value over key lengths.
class PagedEvictionRule final : public RuleOf<PagedEvictionRule, ScoredByContent> {
 public:
  explicit PagedEvictionRule(std::size_t page) : page_(page) {}

  [[nodiscard]] bool in_bulk() const override { return false; }

 protected:
  std::vector<Position> selected(const Choice& choice, Draws&) override {
    std::vector<Position> kept = choice.middle;
    std::map<std::size_t, std::vector<Position>> pages;
    for (const Position p : kept) pages[p / page_].push_back(p);
    std::vector<std::pair<double, std::size_t>> scored;
    for (const auto& [page, tokens] : pages) {
      if (tokens.size() < page_) continue;
      double sum = 0;
      for (const Position p : tokens) sum += ratio(p);
      scored.emplace_back(sum, page);
    }
    if (scored.empty()) return {kept.begin() + 1, kept.end()};
    std::ranges::sort(scored);
    if (scored.size() > 1) {
      const double margin = scored[1].first - scored[0].first;
      doubtful_ |= margin > 0 && margin < rounding * scored[1].first;
    }
    std::erase_if(kept, [&](Position p) { return p / page_ == scored[0].second; });
    return kept;
  }

 private:
  [[nodiscard]] double ratio(Position p) const {
    double sum = 0;
    for (std::size_t head = 0; head < keys_.at(p).size(); ++head) {
      const double key = vectors::length(keys_.at(p)[head]);
      sum += vectors::length(values_.at(p)[head]) / (key > 0 ? key : 1);
    }
    return sum;
  }

  std::size_t page_;
};

// ladder: of every run of the middle a layer keeps a few in a row, the deeper the later ones, or
// layers in turn; it evicts the others one by one.
class LadderRule final : public RuleOf<LadderRule> {
 public:
  LadderRule(const Options& options, const LayerOf& layer)
      : keep_(options.count("keep")),
        drop_(options.count("drop")),
        rotations_(options.at("order") == "interleaved"),
        layer_(layer) {}

  std::vector<Position> keep(const Choice& choice, Draws&) override {
    if (doomed_.empty()) doomed_ = next_run(choice.middle);
    std::vector<Position> kept = choice.middle;
    std::erase(kept, doomed_.front());
    doomed_.erase(doomed_.begin());
    return kept;
  }

 private:
  // The tokens of the next run to evict: of the oldest run that this sweep has not met, or of the
  // oldest of all.
  std::vector<Position> next_run(const std::vector<Position>& middle) {
    const auto size = static_cast<std::ptrdiff_t>(std::min(keep_ + drop_, middle.size()));
    auto first = std::ranges::lower_bound(middle, unmet_);
    if (middle.end() - first < size) first = middle.begin();
    std::vector<Position> run(first, first + size);
    unmet_ = run.back() + 1;
    const std::size_t keep = std::min(keep_, run.size() - 1);
    const std::size_t rungs = run.size() - keep + 1;
    const std::size_t rung =
        rotations_ ? layer_.index % rungs : layer_.index * rungs / layer_.layers;
    const auto kept = run.begin() + static_cast<std::ptrdiff_t>(rung);
    run.erase(kept, kept + static_cast<std::ptrdiff_t>(keep));
    return run;
  }

  std::size_t keep_;
  std::size_t drop_;
  bool rotations_;
  LayerOf layer_;
  Position unmet_ = 0;  // where the sweep continues
  std::vector<Position> doomed_;
};

// Weights: attention per query since arrival, the values' length, or one.
class WeightedRule : public Rule {
 public:
  explicit WeightedRule(std::string kind) : kind_(std::move(kind)) {}

  [[nodiscard]] bool wants_mass() const override { return kind_ == "attention"; }

  [[nodiscard]] bool wants_inputs() const override { return kind_ == "value-norm"; }

  void take_inputs(Position token, const TokenInputs& own) override {
    const std::vector<vectors::Vector> heads = vectors::heads_of(own.values);
    double sum = 0;
    for (const vectors::Vector& head : heads) sum += vectors::length(head);
    norm_[token] = sum / static_cast<double>(heads.size());
  }

 protected:
  [[nodiscard]] double weight(const StoredRow& row) const {
    if (kind_ == "equal") return 1;
    const auto position = static_cast<Position>(row.token.position);
    return std::max(wants_mass() ? row.gathered / row.queries : norm_.at(position), 1e-12);
  }

 private:
  std::string kind_;
  std::map<Position, double> norm_;
};

// reservoir-es: the k largest ln(u) / weight.
class EsRule final : public RuleOf<EsRule, WeightedRule> {
 public:
  using RuleOf::RuleOf;

  std::vector<Position> keep(const Choice& choice, Draws& draws) override {
    std::vector<Position> middle = choice.middle;
    for (std::size_t i = 0; i < middle.size(); ++i) {
      const Position p = middle[i];
      if (keys_.contains(p)) continue;
      keys_[p] = std::log(draws.uniform(p, 0)) / weight(*choice.rows[i]);
    }
    const auto least = [this](Position a, Position b) { return keys_[a] < keys_[b]; };
    middle.erase(std::ranges::min_element(middle, least));
    return middle;
  }

 private:
  std::map<Position, double> keys_;
};

// reservoir-chao: chances in proportion to weight, 1 for those whose share would be above it.
class ChaoRule final : public RuleOf<ChaoRule, WeightedRule> {
 public:
  using RuleOf::RuleOf;

  std::vector<Position> keep(const Choice& choice, Draws& draws) override {
    std::vector<Position> middle = choice.middle;
    const Position newcomer = middle.back();
    if (weights_.empty()) {
      for (const Position p : middle) sure_.insert(p);
      sure_.erase(newcomer);
    }
    for (std::size_t i = 0; i < middle.size(); ++i) {
      if (weights_.contains(middle[i])) continue;
      weights_[middle[i]] = weight(*choice.rows[i]);
      total_ += weights_[middle[i]];
    }
    const std::map<Position, double> chances = chances_of(choice);
    if (draws.uniform(newcomer, 0) < chances.at(newcomer)) {
      middle.erase(std::ranges::find(middle, replaced(choice, chances, draws)));
    } else {
      middle.pop_back();
    }
    sure_.clear();
    for (const Position p : middle) {
      if (chances.at(p) == 1) sure_.insert(p);
    }
    return middle;
  }

 private:
  // Takes out each token with a share of one or more until none has.
  [[nodiscard]] std::map<Position, double> chances_of(const Choice& choice) const {
    std::map<Position, double> chances;
    double places = static_cast<double>(choice.capacity);
    double rest = total_;
    for (bool found = true; found && places >= 1;) {
      found = false;
      for (const Position p : choice.middle) {
        if (chances.contains(p) || places * weights_.at(p) < rest) continue;
        chances[p] = 1;
        places -= 1;
        rest -= weights_.at(p);
        found = true;
        break;
      }
    }
    for (const Position p : choice.middle) chances.emplace(p, places * weights_.at(p) / rest);
    return chances;
  }

  // The token that the newcomer replaces: if it was sure before, with the amount that its chance
  // fell by; else each alike.
  [[nodiscard]] Position replaced(const Choice& choice,
                                  const std::map<Position, double>& chances,
                                  Draws& draws) const {
    const Position newcomer = choice.middle.back();
    std::vector<std::pair<Position, double>> shares;
    double others = 1;
    for (const Position p : choice.middle) {
      if (p == newcomer || !sure_.contains(p) || chances.at(p) == 1) continue;
      shares.emplace_back(p, (1 - chances.at(p)) / chances.at(newcomer));
      others -= shares.back().second;
    }
    const double count = static_cast<double>(choice.capacity - sure_.size());
    for (const Position p : choice.middle) {
      if (p != newcomer && !sure_.contains(p)) shares.emplace_back(p, others / count);
    }
    double left = draws.uniform(newcomer, 1);
    for (const auto& [p, share] : shares) {
      left -= share;
      if (left < 0) return p;
    }
    return shares.back().first;
  }

  std::map<Position, double> weights_;
  std::set<Position> sure_;
  double total_ = 0;
};

}  // namespace

std::unique_ptr<Rule> weighted_rule_of(const Spec& spec) {
  const std::string_view name = spec.policy->name;
  const Options& options = spec.options;
  if (name == "fifo") return std::make_unique<FifoRule>();
  if (name == "reservoir-es") return std::make_unique<EsRule>(options.at("weight"));
  if (name == "reservoir-chao") return std::make_unique<ChaoRule>(options.at("weight"));
  if (name == "paged-eviction") {
    return std::make_unique<PagedEvictionRule>(options.count("page"));
  }
  if (name == "ladder") return std::make_unique<LadderRule>(options, spec.layer);
  if (name == "pages") {
    return std::make_unique<PagesRule>(options.count("page"), options.at("first-page"), spec.sinks);
  }
  return nullptr;
}

}  // namespace kv::properties
