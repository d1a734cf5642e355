#include <algorithm>
#include <array>
#include <bit>

#include "kvcheck/base/text/text.h"
#include "kvcheck/traces/synthetic/plan.h"

namespace kv {
namespace {

constexpr SyntheticParameter decay{
    "decay", 32, 1, 1e6, false, "tokens of age that divide a background weight by e"};
constexpr SyntheticParameter noise{
    "noise", 0.5, 0, 4, false, "standard deviation of the noise on background logits"};

constexpr SyntheticParameter mass_of(double default_value, std::string_view meaning) {
  return {"mass", default_value, 0, 1, false, meaning};
}

constexpr SyntheticParameter whole(std::string_view name,
                                   double default_value,
                                   double minimum,
                                   double maximum,
                                   std::string_view meaning) {
  return {name, default_value, minimum, maximum, true, meaning};
}

constexpr std::array sink_recency_parameters{
    whole("sinks", 4, 0, 65536, "first tokens that share the sinks' mass equally"),
    mass_of(0.5, "what the sinks get in total"), decay, noise};

constexpr std::array zipf_parameters{
    whole("hitters", 32, 1, 65536, "keys that most queries attend to, at random positions"),
    SyntheticParameter{"exponent", 1.1, 0, 8, false, "the i-th hitter weighs i^-exponent"},
    mass_of(0.6, "what the hitters seen so far get in total"),
    whole("within", 256, 1, 65536, "the hitters are drawn from so many first positions"),
    decay,
    noise};

constexpr std::array drift_parameters{
    whole("hitters", 16, 1, 65536, "keys attended to in a period, drawn from the one before"),
    SyntheticParameter{"exponent", 1, 0, 8, false, "the i-th hitter weighs i^-exponent"},
    mass_of(0.6, "what the period's hitters get in total"),
    whole("period", 256, 8, 65536, "tokens after which the hitters change"),
    decay,
    noise};

constexpr std::size_t usual_ask_at = 512;

constexpr std::array needle_parameters{
    whole("position", 64, 0, 65535, "where the needle lies, before spread"),
    whole("spread", 32, 0, 65535, "each kv-head's needle lies 0 to this many tokens later"),
    whole("attended", 4, 0, 65536, "queries that attend to it on its arrival, its own first"),
    whole("ask_at", usual_ask_at, 0, 65535, "the query that asks for it again"),
    whole("ask_every", 128, 0, 65536, "tokens until it is asked for once more; 0: never"),
    mass_of(0.9, "what the needle gets when attended or asked for"),
    decay,
    noise};

constexpr std::array topics_parameters{
    whole("topics", 4, 2, 1024, "topics; a block has one, and the next block another"),
    whole("block", 128, 8, 65536, "tokens of a block"),
    whole("anchors", 8, 1, 65536, "keys of each block that carry its topic, at random"),
    mass_of(0.6, "what all anchors of the query's topic get, equally"),
    decay,
    noise};

constexpr std::array uniform_parameters{noise};

constexpr std::array one_hot_parameters{
    whole("budget", 64, 1, 4096, "residents of the cache that is played against"),
    whole("recent", 32, 0, 4096, "of these, the youngest that it protects; budget: a window")};

constexpr std::array ties_parameters{
    whole("levels", 1, 1, 16, "a key weighs 2^-level, drawn below this; 1: all tie")};

Result<void> anything(const SyntheticSpec&) {
  return {};
}

std::string number_text(std::size_t number) {
  return std::to_string(number);
}

// The error if the first of two fields is above the second.
Result<void> not_above(const SyntheticSpec& spec, std::string_view low, std::string_view high) {
  if (spec.count(low) <= spec.count(high)) return {};
  return usage_error(std::string(low) + "=" + number_text(spec.count(low)) + " is above " +
                     std::string(high) + "=" + number_text(spec.count(high)) + " in '" +
                     std::string(spec.generator->name) + "'; expected at most as many");
}

Result<void> check_zipf(const SyntheticSpec& spec) {
  return not_above(spec, "hitters", "within");
}

Result<void> check_drift(const SyntheticSpec& spec) {
  return not_above(spec, "hitters", "period");
}

Result<void> check_topics(const SyntheticSpec& spec) {
  return not_above(spec, "anchors", "block");
}

Result<void> check_one_hot(const SyntheticSpec& spec) {
  return not_above(spec, "recent", "budget");
}

Result<void> check_needle(const SyntheticSpec& spec) {
  const std::size_t quiet = spec.count("position") + spec.count("spread") +
                            std::max<std::size_t>(spec.count("attended"), 1);
  if (spec.count("ask_at") < quiet) {
    return usage_error("ask_at=" + number_text(spec.count("ask_at")) +
                       " may come before the needle has been left alone; expected at least " +
                       "position + spread + attended = " + number_text(quiet));
  }
  if (spec.count("ask_at") < spec.tokens) return {};
  return usage_error("ask_at=" + number_text(spec.count("ask_at")) + " is after the last of " +
                     number_text(spec.tokens) + " tokens; expected at most " +
                     number_text(spec.tokens - 1) + ", and it is " + number_text(usual_ask_at) +
                     " if it is not given");
}

constexpr std::array<SyntheticEntry, 8> entries{{
    {"sink-recency", "the first tokens hold a fixed mass, the rest decays with age",
     "the sinks and their mass; the decay", sink_recency_parameters, anything, plan_sink_recency},
    {"zipf", "heavy hitters of Zipf weights to which every later query attends",
     "the hitters, their shares and their mass; the decay", zipf_parameters, check_zipf, plan_zipf},
    {"drift", "heavy hitters that are replaced in every period",
     "each period's hitters, their shares and their mass; the decay", drift_parameters, check_drift,
     plan_drift},
    {"needle", "one key that is attended on arrival, ignored for long, and then attended again",
     "the needle, the queries that attend to it and its mass; the decay", needle_parameters,
     check_needle, plan_needle},
    {"topics", "blocks of a topic that return and attend to the anchors of their earlier blocks",
     "each topic's blocks, anchors and mass; the decay", topics_parameters, check_topics,
     plan_topics},
    {"uniform", "all keys have equal weight, except for noise", "nothing; the noise",
     uniform_parameters, anything, plan_uniform},
    {"one-hot", "every query attends only to the key that a given cache has just evicted",
     "each query's target", one_hot_parameters, check_one_hot, plan_one_hot},
    {"ties", "keys of exactly equal weight, all of them or by level", "each key's share",
     ties_parameters, anything, plan_ties},
}};

}  // namespace

std::span<const SyntheticEntry> synthetic_registry() {
  return entries;
}

unsigned label_bits(const SyntheticSpec& spec) {
  std::size_t labels = 1;
  if (spec.generator->name == "one-hot") labels = max_synthetic_tokens;
  if (spec.generator->name == "drift") labels = max_synthetic_tokens / spec.count("period") + 1;
  if (spec.generator->name == "topics") labels = spec.count("topics");
  return static_cast<unsigned>(std::bit_width(labels - 1));
}

}  // namespace kv
