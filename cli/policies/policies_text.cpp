#include "kvcheck/cli/policies/policies_text.h"

#include <optional>
#include <string>
#include <vector>

#include "kvcheck/base/text/json_text.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/cli/options/wrap.h"
#include "kvcheck/cli/policies/spec_answers.h"
#include "kvcheck/cli/policies/spec_fields.h"
#include "kvcheck/policies/claims.h"
#include "kvcheck/properties/contract.h"
#include "kvcheck/sim/spec/spec.h"
#include "kvcheck/sim/spec/spec_names.h"

namespace kv::cli {
namespace {

std::string meaning_with_choices(const SpecField& field) {
  if (field.range.of != Parameter::Range::Of::names) {
    return field.meaning + " (" + shortest(field.range.least) + " to " +
           shortest(field.range.most) + ")";
  }
  if (field.choices.empty()) return field.meaning;
  return field.meaning + " (" + join(field.choices, " | ") + ")";
}

std::string fields_text(const std::vector<SpecField>& fields, std::string_view heading) {
  std::string out;
  for (const SpecField& field : fields) {
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

std::string field_json(const SpecField& field) {
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
  return out + fields_text(spec_settings(), "settings");
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

// As its source stores keys and values; empty: as any cache does.
std::string storage_of(const Preset& preset) {
  const std::optional<KvFormat> storage = parse_spec(preset.spec).value().storage;
  return storage ? storage->text() : std::string(preset.storage);
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
      .add("storage", storage_of(preset))
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
