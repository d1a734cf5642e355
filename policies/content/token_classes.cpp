#include "kvcheck/policies/content/token_classes.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "kvcheck/policies/parts/by_rank.h"
#include "kvcheck/policies/parts/one_by_one.h"
#include "kvcheck/policies/policy.h"

namespace kv {
namespace {

class TokenClasses final : public OneByOne {
 public:
  TokenClasses(TokenClass kept, bool oldest_first)
      : kept_class_(kept), oldest_first_(oldest_first) {}

  [[nodiscard]] Needs needs() const override { return {.token_classes = true}; }

  void observe(const Observation& observation) override {
    kept_.push_back(observation.token_class == kept_class_ ? 1 : 0);
  }

  void forget(std::span<const std::size_t> ranks) override { erase_ranks(kept_, ranks); }

  [[nodiscard]] std::unique_ptr<Policy> clone() const override {
    return std::make_unique<TokenClasses>(*this);
  }

  void save(ByteWriter& writer) const override { writer.put(kept_); }

  void load(ByteReader& reader) override { reader.get(kept_); }

 protected:
  std::size_t select(const Candidates& candidates, Draws&) override {
    const std::size_t n = candidates.positions.size();
    KV_CHECK(candidates.first_rank + n <= kept_.size());
    const auto kept = std::span<const std::uint8_t>(kept_).subspan(candidates.first_rank, n);
    const auto other = static_cast<std::size_t>(std::ranges::find(kept, 0) - kept.begin());
    if (other < n) return other;
    // Only kept words are left. With order=oldest the newcomer, which is last, is evicted.
    return oldest_first_ ? n - 1 : 0;
  }

 private:
  TokenClass kept_class_;
  bool oldest_first_;
  std::vector<std::uint8_t> kept_;  // [residents], by rank: 1 for tokens of the class
};

constexpr auto claims =
    std::array<std::string_view, 3>{"constant-size", "chunk-invariant", "deterministic"};

constexpr auto orders = std::array<std::string_view, 2>{"newest", "oldest"};
constexpr auto parameters = std::array<Parameter, 1>{{
    {.name = "order",
     .default_value = "newest",
     .choices = orders,
     .meaning = "which words of the preferred class are kept if there are too many"},
}};

template <TokenClass kept>
std::unique_ptr<Policy> make(const Options& options) {
  return make_token_classes(kept, options.at("order") == "oldest");
}

}  // namespace

std::unique_ptr<Policy> make_token_classes(TokenClass kept, bool oldest_first) {
  return std::make_unique<TokenClasses>(kept, oldest_first);
}

PolicyEntry token_classes_policy() {
  return {.name = "token-classes",
          .summary = "Keeps content words before function words and punctuation.",
          .protection = {.sinks = 4},
          .parameters = parameters,
          .claims = claims,
          .source =
              "a reimplementation of StreamingLLM on Pythia-2.8b with compression, "
              "compress/pythia_streaming_compress.py, mode pos",
          .differs =
              "Every unit has a list of its own. The source has one list, which the first layer "
              "thins, so that the other layers fall back to recency. The source keeps the oldest "
              "content words (order=oldest).",
          .cost = "O(middle) time a decision; 1 byte per resident",
          .make = make<TokenClass::content>};
}

PolicyEntry separators_policy() {
  return {.name = "separators",
          .summary = "Keeps punctuation and line ends before words.",
          .protection = {.sinks = 4},
          .parameters = parameters,
          .claims = claims,
          .source =
              "Chen et al., \"SepLLM: Accelerate Large Language Models by Compressing One "
              "Segment into One Separator\", ICML 2025, arXiv:2412.12094; code HKUDS/SepLLM",
          .differs =
              "In the source the words between separators are evicted as soon as they leave the "
              "recent window; here they are kept while there is room. No model is trained.",
          .cost = "O(middle) time a decision; 1 byte per resident",
          .make = make<TokenClass::separator>};
}

}  // namespace kv
