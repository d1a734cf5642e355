#include "kvcheck/cli/policies/policies_text.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "kvcheck/base/text/json_text.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/cli/options/wrap.h"
#include "kvcheck/cli/policies/spec_answers.h"
#include "kvcheck/policies/claims.h"
#include "kvcheck/properties/contract.h"
#include "kvcheck/sim/spec/spec.h"
#include "kvcheck/sim/spec/spec_names.h"

namespace kv::cli {
namespace {

// A field or setting of a spec: its name, its default, the valid words if they are few, and its
// meaning.
struct Field {
  std::string name;
  std::string default_value;
  std::vector<std::string> choices{};
  std::string meaning;
  Parameter::Range range{};                                      // of a number that is not a size
  std::vector<std::pair<std::string, std::string>> explained{};  // choices with a meaning each
};

std::string default_recent_text(const Protection& protection) {
  std::string rest = protection.takes_sinks ? "budget - sinks" : "budget";
  if (protection.recent_percent == 0) return "0";
  if (protection.recent_percent == 100) return rest;
  return std::to_string(protection.recent_percent) + "% of (" + rest + ")";
}

std::vector<Field> fields_of(const PolicyEntry& policy) {
  const Protection& protection = policy.protection;
  std::vector<Field> fields;
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

Field compress_field() {
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

std::vector<Field> settings() {
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
      {.name = "chunk",
       .default_value = std::to_string(usual.chunk),
       .meaning = "tokens that one forward pass takes in"},
  };
}

std::string meaning_with_choices(const Field& field) {
  if (field.range.of != Parameter::Range::Of::names) {
    return field.meaning + " (" + shortest(field.range.least) + " to " +
           shortest(field.range.most) + ")";
  }
  if (field.choices.empty()) return field.meaning;
  return field.meaning + " (" + join(field.choices, " | ") + ")";
}

std::string fields_text(const std::vector<Field>& fields, std::string_view heading) {
  std::string out;
  for (const Field& field : fields) {
    const bool first = &field == fields.data();
    out += definition(first ? heading : "",
                      field.name + "=" + field.default_value + ": " + meaning_with_choices(field));
    for (const auto& [choice, meaning] : field.explained) {
      out += definition("", choice + ": " + meaning, {.column = Layout().column + 2});
    }
  }
  return out;
}

std::string list_of(std::span<const std::string_view> arguments) {
  return join(std::vector<std::string>(arguments.begin(), arguments.end()), ", ");
}

std::string policy_head(const PolicyEntry& policy) {
  return std::string(policy.name) + "\n" + definition("", policy.summary, {.column = 2}) +
         fields_text(fields_of(policy), "fields");
}

std::string canonical_of(const Preset& preset) {
  return parse_spec(preset.spec).value().canonical();
}

// The claims of the preset's policy, except those that its settings invalidate.
std::vector<std::string> claims_of(const Preset& preset) {
  const Spec spec = without_phases(parse_spec(preset.spec).value());
  const properties::Contract contract = properties::contract_of(spec);
  return {contract.claims.begin(), contract.claims.end()};
}

// A spec is one word; a long one has a line of its own.
std::string spec_line(std::string_view term, std::string_view spec) {
  const Layout usual;
  return definition(term, spec, {.column = spec.size() > 86 ? 4 : usual.column});
}

std::string field_json(const Field& field) {
  JsonObject json;
  json.add("name", field.name)
      .add("default", field.default_value)
      .add_raw("choices", json_list(field.choices, json_string))
      .add("meaning", field.meaning);
  if (field.range.of != Parameter::Range::Of::names) {
    json.add_raw("least", shortest(field.range.least)).add_raw("most", shortest(field.range.most));
  }
  return json.text();
}

}  // namespace

std::string brief_line(std::string_view name, std::string_view text) {
  constexpr std::size_t column = 22;
  std::string line(name);
  line.resize(std::max(line.size() + 2, column), ' ');
  return line.append(text);
}

std::string policy_text(const PolicyEntry& policy) {
  return policy_head(policy) + definition("claims", list_of(policy.claims)) +
         definition("source", policy.source) + definition("cost", policy.cost);
}

std::string policy_details(const PolicyEntry& policy) {
  std::string out = policy_head(policy);
  for (const std::string_view& claim : policy.claims) {
    const bool first = &claim == policy.claims.data();
    out += definition(first ? "claims" : "",
                      std::string(claim) + ": " + std::string(find_claim(claim)->meaning));
  }
  out += definition("source", policy.source) + definition("differs", policy.differs) +
         definition("cost", policy.cost);
  return out + fields_text(settings(), "settings");
}

std::string preset_text(const Preset& preset) {
  return "@" + std::string(preset.name) + "\n" + spec_line("spec", preset.spec) +
         definition("claims", join(claims_of(preset), ", ")) + definition("source", preset.source) +
         definition("cost", parse_spec(preset.spec).value().policy->cost) +
         definition("differs", preset.differs);
}

std::string preset_details(const Preset& preset) {
  std::string out = preset_text(preset) + spec_line("canonical", canonical_of(preset));
  if (!preset.numbers.empty()) out += definition("numbers", preset.numbers);
  return out + answers_text(parse_spec(preset.spec).value(), preset.storage);
}

std::string spec_details(std::string_view spec) {
  const std::string_view name = name_in(spec);
  const Spec parsed = parse_spec(spec).value();
  return (name.starts_with('@') ? preset_text(*find_preset(name.substr(1)))
                                : policy_details(*parsed.policy)) +
         definition("given", spec) + definition("canonical", parsed.canonical()) +
         answers_text(parsed);
}

std::string policy_json(const PolicyEntry& policy) {
  return JsonObject()
      .add("kind", "policy")
      .add("name", policy.name)
      .add("summary", policy.summary)
      .add_raw("fields", json_list(fields_of(policy), field_json))
      .add_raw("claims", json_list(policy.claims, json_string))
      .add("source", policy.source)
      .add("differs", policy.differs)
      .add("cost", policy.cost)
      .text();
}

std::string preset_json(const Preset& preset) {
  return JsonObject()
      .add("kind", "preset")
      .add("name", preset.name)
      .add("spec", preset.spec)
      .add("canonical", canonical_of(preset))
      .add_raw("claims", json_list(claims_of(preset), json_string))
      .add("source", preset.source)
      .add("cost", parse_spec(preset.spec).value().policy->cost)
      .add("differs", preset.differs)
      .add("numbers", preset.numbers)
      .add("storage", preset.storage)
      .text();
}

std::string spec_json(std::string_view spec) {
  const std::string_view name = name_in(spec);
  const Spec parsed = parse_spec(spec).value();
  std::string json = name.starts_with('@') ? preset_json(*find_preset(name.substr(1)))
                                           : policy_json(*parsed.policy);
  json.back() = ',';
  return json + JsonObject()
                    .add("given", spec)
                    .add("given_canonical", parsed.canonical())
                    .text()
                    .substr(1);
}

}  // namespace kv::cli
