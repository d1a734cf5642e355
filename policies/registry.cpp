#include "policies/registry.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "policies/h2o.h"
#include "policies/keep_recent.h"
#include "policies/random.h"
#include "policies/reservoir.h"
#include "policies/reservoir_as_printed.h"
#include "policies/tova.h"

namespace kv {
namespace {

using Words = std::string_view;

constexpr Words sinks_paper =
    "Xiao et al., \"Efficient Streaming Language Models with Attention Sinks\", ICLR 2024, "
    "arXiv:2309.17453, section 3";

constexpr auto fixed_claims = std::array<Words, 2>{"chunk-invariant", "deterministic"};
constexpr auto streaming_claims =
    std::array<Words, 3>{"constant-size", "chunk-invariant", "deterministic"};
constexpr auto random_claims =
    std::array<Words, 4>{"constant-size", "chunk-invariant", "age-geometric", "admits-newcomers"};
constexpr auto reservoir_claims =
    std::array<Words, 3>{"constant-size", "chunk-invariant", "uniform"};
constexpr auto as_printed_claims = std::array<Words, 2>{"constant-size", "uniform"};
constexpr auto score_claims =
    std::array<Words, 3>{"constant-size", "deterministic", "score-driven"};

constexpr auto algorithms = std::array<Words, 3>{"r", "l", "bottom-k"};
constexpr auto reservoir_parameters = std::array<Parameter, 1>{{
    {.name = "algorithm",
     .default_value = "r",
     .choices = algorithms,
     .meaning = "how the sample is drawn; one law, different draws"},
}};

constexpr auto normalisations = std::array<Words, 2>{"none", "age"};
constexpr auto h2o_parameters = std::array<Parameter, 1>{{
    {.name = "normalise",
     .default_value = "none",
     .choices = normalisations,
     .meaning = "age divides the gathered mass by the number of queries that saw the token"},
}};

std::unique_ptr<Policy> keep_recent(const Options&) {
  return make_keep_recent();
}

constexpr auto table = std::array<PolicyEntry, 8>{{
    {.name = "dense",
     .summary = "Keeps every token: the reference.",
     .protection = {.middle = Protection::Middle::unbounded,
                    .takes_sinks = false,
                    .recent_percent = 100},
     .parameters = {},
     .claims = fixed_claims,
     .source = "no paper: plain causal attention, what all other policies approximate",
     .differs = "nothing",
     .cost = "O(1) time a token; memory grows with the stream",
     .make = keep_recent},
    {.name = "window",
     .summary = "Keeps the most recent tokens only.",
     .protection = {.middle = Protection::Middle::none,
                    .takes_sinks = false,
                    .recent_percent = 100},
     .parameters = {},
     .claims = streaming_claims,
     .source = sinks_paper,
     .differs = "nothing; its collapse once the first tokens leave is the paper's observation",
     .cost = "O(1) time a token; no state",
     .make = keep_recent},
    {.name = "streaming",
     .summary = "Keeps the first tokens (attention sinks) and the most recent ones.",
     .protection = {.middle = Protection::Middle::none, .sinks = 4, .recent_percent = 100},
     .parameters = {},
     .claims = streaming_claims,
     .source = sinks_paper,
     .differs = "positions are a separate setting (positions=in-cache is the paper's choice; "
                "preset @streaming-llm)",
     .cost = "O(1) time a token; no state",
     .make = keep_recent},
    {.name = "random",
     .summary = "Admits every token to the middle; a random older one makes room.",
     .protection = {.sinks = 4},
     .parameters = {},
     .claims = random_claims,
     .source = "code AnswerDotAI/cold-compress, cache.py, class KVCacheRandom",
     .differs = "draws are keyed by the newcomer's position instead of one global generator; "
                "survival after a decisions is (1 - 1/k)^a there and here",
     .cost = "O(1) time and one draw a token; no state",
     .make = [](const Options&) { return make_random(); }},
    {.name = "reservoir",
     .summary = "Keeps a uniform random sample of all tokens that left the recent window.",
     .protection = {.sinks = 4},
     .parameters = reservoir_parameters,
     .claims = reservoir_claims,
     .source =
         "Pan, Weng, Huang, Pan and Zhao, \"An Experiment of Implementing Reservoir Sampling to "
         "StreamingLLM\", section 4, formulas (1) and (2); algorithm r: Vitter, ACM TOMS 11(1), "
         "1985; l: Li, ACM TOMS 20(4), 1994; bottom-k: Cohen and Kaplan, PODC 2007",
     .differs = "every unit draws its own sample, the method's code one for all layers and heads; "
                "until the middle is full a token stays without a draw",
     .cost = "O(1) time and at most two draws a token (bottom-k: O(k) time for one that enters); "
             "state: none for r, 16 bytes for l, 8 bytes per middle token for bottom-k",
     .make = [](const Options& options) { return make_reservoir(options.at("algorithm")); }},
    {.name = "reservoir-as-printed",
     .summary = "Resamples the cache at every trim: the reservoir as its paper's listing runs it.",
     .protection = {.sinks = 4},
     .parameters = {},
     .claims = as_printed_claims,
     .source = "Pan, Weng, Huang, Pan and Zhao, \"An Experiment of Implementing Reservoir Sampling "
               "to StreamingLLM\", figures 2 and 3",
     .differs = "kept because it is wrong: it claims to be uniform as its paper does, and is not "
                "(survival (k/(k+1))^age token by token, another for every chunk size); figure "
                "3's slips in cutting tensors are left out",
     .cost = "O(k + m) time and m draws for a trim of m tokens; no state",
     .make = [](const Options&) { return make_reservoir_as_printed(); }},
    {.name = "h2o",
     .summary = "Keeps the heavy hitters: the tokens that have gathered the most attention.",
     .protection = {},
     .parameters = h2o_parameters,
     .claims = score_claims,
     .source = "Zhang et al., \"H2O: Heavy-Hitter Oracle for Efficient Generative Inference of "
               "Large Language Models\", NeurIPS 2023, arXiv:2306.14048, algorithm 1; code "
               "FMInference/H2O, h2o_hf/utils_real_drop/modify_llama.py",
     .differs = "mass is renormalised over what was visible and averaged over the unit's heads; "
                "among equals the older goes; normalise=age is NVIDIA/kvpress's division",
     .cost = "O(residents) time a query; 8 bytes per resident, 24 with normalise=age",
     .make =
         [](const Options& options) {
           return make_h2o(options.at("normalise") == "age" ? Normalise::age : Normalise::none);
         }},
    {.name = "tova",
     .summary = "Drops the tokens that the last query paid the least attention.",
     .protection = {.recent_percent = 0},
     .parameters = {},
     .claims = score_claims,
     .source = "Oren et al., \"Transformers are Multi-State RNNs\", arXiv:2401.06104, the policy "
               "TOVA; code schwartz-lab-NLP/TOVA, src/tova_cache.py",
     .differs = "the paper shares residents over a layer, which is unit=layer here (preset @tova); "
                "among equals the older goes",
     .cost = "O(residents) time a query; 4 bytes per resident",
     .make = [](const Options&) { return make_tova(); }},
}};

}  // namespace

Options::Options(std::span<const Parameter> parameters) : parameters_(parameters) {
  for (const Parameter& parameter : parameters) {
    values_.emplace(parameter.name, parameter.default_value);
  }
}

void Options::set(std::string_view name, std::string_view value) {
  const auto parameter = std::ranges::find(parameters_, name, &Parameter::name);
  KV_CHECK(parameter != parameters_.end());
  KV_CHECK(std::ranges::find(parameter->choices, value) != parameter->choices.end());
  values_.find(name)->second = value;
}

const std::string& Options::at(std::string_view name) const {
  const auto found = values_.find(name);
  KV_CHECK(found != values_.end());
  return found->second;
}

std::span<const PolicyEntry> policy_registry() {
  return table;
}

const PolicyEntry* find_policy(std::string_view name) {
  const auto found = std::ranges::find(table, name, &PolicyEntry::name);
  return found == table.end() ? nullptr : &*found;
}

}  // namespace kv
