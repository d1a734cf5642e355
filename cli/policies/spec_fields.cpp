#include "kvcheck/cli/policies/spec_fields.h"

#include "kvcheck/sim/spec/spec.h"

namespace kv::cli {
namespace {

std::string default_recent_text(const Protection& protection) {
  std::string rest = protection.takes_sinks ? "budget - sinks" : "budget";
  if (protection.recent_percent == 0) return "0";
  if (protection.recent_percent == 100) return rest;
  return std::to_string(protection.recent_percent) + "% of (" + rest + ")";
}

SpecField compress_field() {
  return {.name = "compress",
          .default_value = Phases().text(),
          .meaning = "when the cache trims at all",
          .explained = {{"always", "whenever the timing says"},
                        {"never", "it does not"},
                        {"prompt", "once, at the prompt's end; then it grows"},
                        {"question", "once, at the end of the question that follows the prompt"},
                        {"prompt+hold", "at the prompt's end, and then whenever the timing says"},
                        {"prompt+every:N", "at the prompt's end, and then after every N tokens"}}};
}

SpecField storage_field() {
  return {
      .name = "storage",
      .default_value = "none",
      .meaning = "how a model stores keys and values; a replay has none to store",
      .explained = {{"f32, f16, bf16", "numbers"},
                    {"int8, int4", "codes with a scale per vector, or per 32 channels"},
                    {"kivi4, kivi2", "codes whose keys share a scale with those of other tokens"},
                    {"int4:recent=N,sinks=N,full=f16,group=N",
                     "codes, and these tokens in full precision; --storage of eval has the same "
                     "words"}}};
}

}  // namespace

std::vector<SpecField> fields_of(const PolicyEntry& policy) {
  const Protection& protection = policy.protection;
  std::vector<SpecField> fields;
  if (protection.middle != Protection::Middle::unbounded) {
    if (protection.takes_sinks) {
      fields.push_back({"sinks",
                        std::to_string(protection.sinks),
                        {},
                        "the first tokens, which are never evicted"});
    }
    const bool has_middle = protection.middle == Protection::Middle::some;
    fields.push_back({"recent",
                      default_recent_text(protection),
                      {},
                      "the newest tokens, which are never evicted"});
    fields.push_back({"budget",
                      "256",
                      {},
                      has_middle
                          ? "tokens to keep after a trim, sinks and recent included"
                          : "tokens to keep after a trim; it sets recent, or recent sets it"});
    fields.push_back({"ratio",
                      "none",
                      {},
                      "in place of budget: the share of a prompt to keep, for compress=prompt or "
                      "compress=question"});
  }
  for (const Parameter& parameter : policy.parameters) {
    fields.push_back({std::string(parameter.name),
                      std::string(parameter.default_value),
                      {parameter.choices.begin(), parameter.choices.end()},
                      std::string(parameter.meaning),
                      parameter.range});
  }
  return fields;
}

std::vector<SpecField> spec_settings() {
  const Spec usual;
  const auto word = [](auto choice) { return std::string(name_of(choice)); };
  return {
      {.name = "timing",
       .default_value = word(usual.timing),
       .meaning = "when the cache trims",
       .explained = {{word(Timing::attend_then_trim), "after attention"},
                     {word(Timing::trim_then_attend),
                      "before attention, so that there is room for the chunk"},
                     {"lazy:N",
                      "after attention, but only once more than budget + N tokens are stored"}}},
      {.name = "visibility",
       .default_value = word(usual.visibility),
       .meaning = "what a query sees",
       .explained = {{word(Visibility::causal), "everything stored up to itself"},
                     {word(Visibility::window),
                      "exactly what it would see if the chunk were fed token by token, never more "
                      "than the budget"},
                     {"top-pages:ATTENDED/PAGE/DENSE",
                      "ATTENDED tokens in the pages of PAGE (16) tokens whose keys may match it "
                      "best, and everything in the first DENSE (2) layers; ATTENDED is a multiple "
                      "of PAGE; needs the policy dense, absolute positions and no unit=model"}}},
      {.name = "positions",
       .default_value = word(usual.positions),
       .meaning = "the rotary positions",
       .explained = {{word(Positions::absolute), "a token's index in the stream"},
                     {word(Positions::in_cache), "its rank among the visible tokens"},
                     {word(Positions::shifted),
                      "that rank too, but stored keys are rotated again whenever a gap closes"}}},
      {.name = "unit",
       .default_value = word(usual.unit),
       .choices = {word(Unit::head), word(Unit::kv_head), word(Unit::layer), word(Unit::model)},
       .meaning =
           "the heads that share one set of residents; attention is averaged over their query "
           "heads"},
      {.name = "budgets",
       .default_value = usual.budgets.text(),
       .meaning = "what each layer or head may keep",
       .explained = {{"equal", "the budget"},
                     {"pyramid:BETA",
                      "more in lower layers, falling in even steps, with the same total"},
                     {"retrieval:LAYER.HEAD+...",
                      "everything in the named heads, and the budget in all others"},
                     {"adaptive:ALPHA",
                      "a share of the layer's total, which scores decide at every trim, but at "
                      "least the part ALPHA of the head's own middle"}}},
      {.name = "vectors",
       .default_value = word(usual.vectors),
       .meaning = "the keys and values of residents after a trim",
       .explained = {{word(Vectors::kept), "those that were stored"},
                     {word(Vectors::re_evaluated),
                      "computed by a fresh pass over the residents; a model runs it, a replay "
                      "shows recorded ones"}}},
      compress_field(),
      storage_field(),
      {.name = "chunk",
       .default_value = std::to_string(usual.chunk),
       .meaning = "tokens that one forward pass takes in"},
  };
}

}  // namespace kv::cli
