#include "kvcheck/policies/sampling/reservoir.h"

#include <array>
#include <string_view>

#include "kvcheck/base/check.h"
#include "kvcheck/policies/policy.h"

namespace kv {
namespace {

constexpr auto claims =
    std::array<std::string_view, 3>{"constant-size", "chunk-invariant", "uniform"};

constexpr auto algorithms = std::array<std::string_view, 3>{"r", "l", "bottom-k"};
constexpr auto parameters = std::array<Parameter, 1>{{
    {.name = "algorithm",
     .default_value = "r",
     .choices = algorithms,
     .meaning = "how the sample is drawn; its distribution is the same"},
}};

}  // namespace

std::unique_ptr<Policy> make_reservoir(std::string_view algorithm) {
  if (algorithm == "l") return make_reservoir_l();
  if (algorithm == "bottom-k") return make_reservoir_bottom_k();
  KV_CHECK(algorithm == "r");
  return make_reservoir_r();
}

PolicyEntry reservoir_policy() {
  return {
      .name = "reservoir",
      .summary = "Keeps a uniform random sample of all tokens that left the recent window.",
      .protection = {.sinks = 4},
      .parameters = parameters,
      .claims = claims,
      .source =
          "Pan, Weng, Huang, Pan and Zhao, \"An Experiment of Implementing Reservoir Sampling to "
          "StreamingLLM\", section 4, formulas (1) and (2); algorithm r: Vitter, ACM TOMS 11(1), "
          "1985; l: Li, ACM TOMS 20(4), 1994; bottom-k: Cohen and Kaplan, PODC 2007",
      .differs =
          "Every unit draws a sample of its own; the method's code draws one for all layers and "
          "heads. Until the middle is full, tokens are admitted without a draw.",
      .cost =
          "O(1) time and at most two draws a token (bottom-k: O(k) time for one that enters); "
          "state: none for r, 16 bytes for l, 8 bytes per middle token for bottom-k",
      .make = [](const Options& options) { return make_reservoir(options.at("algorithm")); }};
}

}  // namespace kv
