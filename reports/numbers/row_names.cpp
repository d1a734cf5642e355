#include "kvcheck/reports/numbers/row_names.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

#include "kvcheck/base/text/text.h"
#include "kvcheck/sim/spec/phases.h"
#include "kvcheck/sim/spec/presets.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv::reports {
namespace {

// What gives a preset the spec's budget, or its share of a prompt.
std::string size_of(const Spec& spec) {
  if (spec.phases.ratio > 0) return ":ratio=" + ratio_text(spec.phases.ratio);
  return spec.bounded() ? ":budget=" + std::to_string(spec.budget) : "";
}

// Whether the preset's text begins with the name of this policy; others need not be parsed.
bool is_of_policy(const Preset& preset, std::string_view policy) {
  return preset.spec.substr(0, preset.spec.find_first_of(":;")) == policy;
}

// Whether the spec is the preset but for numbers and the policy's own fields: the settings that
// make the published system differ from the plain policy are the same, each by its word.
bool is_kind_of(const Spec& spec, const Spec& preset) {
  const auto word = [](const std::string& text) { return text.substr(0, text.find(':')); };
  const auto kinds = [&](const Spec& of) {
    return std::tuple(of.timing, of.visibility, of.positions, of.unit, of.vectors,
                      of.phases.compress, of.phases.then, word(of.budgets.text()),
                      of.storage ? word(of.storage->text()) : "");
  };
  const auto plain = parse_spec(spec.policy->name);
  return kinds(spec) == kinds(preset) && plain && kinds(spec) != kinds(*plain);
}

// The setting without its name, if its value alone identifies it.
std::string plain(std::string_view setting) {
  for (const std::string_view name : {"timing=", "positions="}) {
    if (setting.starts_with(name)) setting.remove_prefix(name.size());
  }
  return std::string(setting);
}

// What a spec writes otherwise than another one does.
struct Differences {
  std::vector<std::string> fields{};
  std::vector<std::string> settings{};

  [[nodiscard]] std::size_t size() const { return fields.size() + settings.size(); }
};

// The budget, and what follows from it, is no difference.
Differences differences_of(const Spec& spec, const Spec& other) {
  const auto parts_of = [](const std::string& text) {
    std::vector<std::string> parts;
    for (const std::string_view part : split(text, ';')) parts.emplace_back(part);
    return parts;
  };
  const auto fields_of = [](const std::string& part) {
    std::vector<std::string> fields;
    const std::size_t colon = part.find(':');
    if (colon == std::string::npos) return fields;
    for (const std::string_view field : split(std::string_view(part).substr(colon + 1), ',')) {
      fields.emplace_back(field);
    }
    return fields;
  };
  const std::vector<std::string> own = parts_of(spec.canonical());
  const std::vector<std::string> others = parts_of(other.canonical());
  const bool recent_follows = spec.policy->protection.middle == Protection::Middle::none;
  const auto adds = [](std::vector<std::string>& to, const std::vector<std::string>& known,
                       const std::string& piece) {
    if (std::ranges::find(known, piece) == known.end()) to.push_back(piece);
  };
  Differences found;
  const std::vector<std::string> known = fields_of(others.front());
  for (const std::string& field : fields_of(own.front())) {
    const bool size = field.starts_with("budget=") || field.starts_with("ratio=");
    if (size || (recent_follows && field.starts_with("recent="))) continue;
    adds(found.fields, known, field);
  }
  for (std::size_t i = 1; i < own.size(); ++i) adds(found.settings, others, own[i]);
  return found;
}

// Whether the preset with these differences is the spec.
bool means(const std::string& preset, const Differences& differences, const Spec& spec) {
  std::string words = preset + size_of(spec);
  char mark = words == preset ? ':' : ',';
  for (const std::string& field : differences.fields) {
    words += mark + field;
    mark = ',';
  }
  for (const std::string& setting : differences.settings) words += ";" + setting;
  const auto parsed = parse_spec(words);
  return parsed && *parsed == spec;
}

// The same without a recent window that follows from the other fields.
Differences stated_once(const std::string& preset, Differences differences, const Spec& spec) {
  Differences fewer = differences;
  std::erase_if(fewer.fields,
                [](const std::string& field) { return field.starts_with("recent="); });
  return means(preset, fewer, spec) ? fewer : differences;
}

// How many words the label has behind the policy's name.
std::size_t words_of_label(const Spec& spec) {
  const std::string label = spec.label();
  return static_cast<std::size_t>(std::ranges::count(label, '='));
}

std::string name_with(const std::string& preset, const Differences& differences) {
  std::string name = preset;
  if (!differences.fields.empty()) name += ":" + join(differences.fields, ",");
  for (const std::string& setting : differences.settings) name += " " + plain(setting);
  return name;
}

// Empty if the spec is no preset, or if it differs from two alike. Requires that it is not
// resolved.
std::string preset_name(const Spec& spec) {
  Spec read_singly = spec;
  read_singly.chunk = 1;
  if (read_singly.label() == spec.policy->name) return {};
  std::map<std::size_t, std::vector<std::string>> names;  // by the number of differences
  for (const Preset& preset : presets()) {
    if (!is_of_policy(preset, spec.policy->name)) continue;
    const std::string name = "@" + std::string(preset.name);
    const auto own = parse_spec(name);
    const auto sized = parse_spec(name + size_of(spec));  // not if more tokens are protected
    if (!own) continue;
    const Differences differences =
        stated_once(name, differences_of(spec, sized ? *sized : *own), spec);
    const bool chunk_alone =
        differences.size() == 1 && spec.chunk != own->chunk && differences.fields.empty();
    if (differences.size() > 0 && !chunk_alone && !is_kind_of(spec, *own)) continue;
    // "streaming lazy:8" says it in fewer words than a preset of eight sinks.
    if (differences.size() > words_of_label(spec)) continue;
    if (means(name, differences, spec)) {
      names[differences.size()].push_back(name_with(name, differences));
    }
  }
  if (names.empty()) return {};
  const auto& [count, nearest] = *names.begin();
  return count == 0 || nearest.size() == 1 ? nearest.front() : "";
}

}  // namespace

Spec unresolved(const Spec& spec) {
  if (!spec.phases.marked()) return spec;
  Spec own = spec;
  own.phases.first_trim = 0;
  if (spec.phases.ratio == 0) return own;
  own.budget = 0;
  if (spec.phases.recent_follows) own.recent = 0;
  return own;
}

std::string row_name(const Spec& spec) {
  std::string name = preset_name(unresolved(spec));
  if (!name.empty()) return name;
  const std::string label = spec.label();
  for (const std::string_view part : split(label, ';')) {
    name += name.empty() ? std::string(part) : " " + plain(part);
  }
  return name;
}

std::vector<std::string> names_of(std::span<const Spec> specs) {
  // A list of cells has each spec many times.
  std::map<std::string, std::string> known;
  std::vector<std::string> names;
  for (const Spec& spec : specs) {
    std::string& name = known[spec.canonical()];
    if (name.empty()) name = row_name(spec);
    names.push_back(name);
  }
  return names;
}

}  // namespace kv::reports
