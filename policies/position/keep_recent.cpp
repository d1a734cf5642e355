#include "kvcheck/policies/position/keep_recent.h"

#include <array>
#include <string_view>

#include "kvcheck/base/check.h"
#include "kvcheck/policies/policy.h"

namespace kv {
namespace {

class KeepRecent final : public Policy {
 public:
  void evict(const Candidates&, Draws&, std::vector<std::size_t>&) override {
    constexpr bool has_a_middle_to_select_from = false;
    KV_CHECK(has_a_middle_to_select_from);
  }

  [[nodiscard]] std::unique_ptr<Policy> clone() const override {
    return std::make_unique<KeepRecent>(*this);
  }
};

constexpr std::string_view sinks_paper =
    "Xiao et al., \"Efficient Streaming Language Models with Attention Sinks\", ICLR 2024, "
    "arXiv:2309.17453, section 3";

// dense grows with the stream, so it is not of constant size.
constexpr auto fixed_claims = std::array<std::string_view, 2>{"chunk-invariant", "deterministic"};
constexpr auto streaming_claims =
    std::array<std::string_view, 3>{"constant-size", "chunk-invariant", "deterministic"};

std::unique_ptr<Policy> keep_recent(const Options&) {
  return make_keep_recent();
}

}  // namespace

std::unique_ptr<Policy> make_keep_recent() {
  return std::make_unique<KeepRecent>();
}

PolicyEntry dense_policy() {
  return {.name = "dense",
          .summary = "Keeps every token; it is the reference for all other policies.",
          .protection = {.middle = Protection::Middle::unbounded,
                         .takes_sinks = false,
                         .recent_percent = 100},
          .parameters = {},
          .claims = fixed_claims,
          .source = "no paper: plain causal attention, which all other policies approximate",
          .differs = "nothing",
          .cost = "O(1) time a token; memory grows with the stream",
          .make = keep_recent};
}

PolicyEntry window_policy() {
  return {
      .name = "window",
      .summary = "Keeps only the most recent tokens.",
      .protection = {.middle = Protection::Middle::none,
                     .takes_sinks = false,
                     .recent_percent = 100},
      .parameters = {},
      .claims = streaming_claims,
      .source = sinks_paper,
      .differs =
          "nothing; the paper observes that this policy fails once the first tokens are evicted",
      .cost = "O(1) time a token; no state",
      .make = keep_recent};
}

PolicyEntry streaming_policy() {
  return {.name = "streaming",
          .summary = "Keeps the first tokens (attention sinks) and the most recent ones.",
          .protection = {.middle = Protection::Middle::none, .sinks = 4, .recent_percent = 100},
          .parameters = {},
          .claims = streaming_claims,
          .source = sinks_paper,
          .differs =
              "Positions are a separate setting; the paper's choice is positions=in-cache (preset "
              "@streaming-llm).",
          .cost = "O(1) time a token; no state",
          .make = keep_recent};
}

}  // namespace kv
