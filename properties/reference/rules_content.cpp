// Executable specifications of policies that look at what tokens bring, with or without attention.
#include <string_view>

#include "kvcheck/properties/reference/rules_detail.h"

namespace kv::properties {
namespace {

using namespace vectors;

// key-norm: evicts the longest key.
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

// token-classes, separators: evicts others first, the oldest of them; then the kept class.
class ClassesRule final : public RuleOf<ClassesRule, ScoredByContent> {
 public:
  ClassesRule(TokenClass kept, bool oldest_first) : kept_(kept), oldest_first_(oldest_first) {}

  [[nodiscard]] bool in_bulk() const override { return false; }

 protected:
  std::vector<Position> selected(const Choice& choice, Draws&) override {
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
  if (name == "token-classes" || name == "separators") {
    return std::make_unique<ClassesRule>(
        name == "separators" ? TokenClass::separator : TokenClass::content,
        options.at("order") == "oldest");
  }
  if (std::unique_ptr<Rule> rule = keys_rule_of(spec)) return rule;
  return rotated_rule_of(spec);
}

}  // namespace kv::properties
