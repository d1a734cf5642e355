#include "kvcheck/sim/spec/spec_text.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "kvcheck/base/text/text.h"
#include "kvcheck/sim/spec/spec_names.h"

namespace kv {
namespace {

using Names = std::vector<std::string_view>;

constexpr std::array<std::string_view, 9> all_settings = {"timing",   "visibility", "positions",
                                                          "unit",     "budgets",    "vectors",
                                                          "compress", "storage",    "chunk"};

bool contains(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

Names fields_of(const PolicyEntry& policy) {
  Names names;
  if (policy.protection.middle != Protection::Middle::unbounded) {
    if (policy.protection.takes_sinks) names.emplace_back("sinks");
    names.insert(names.end(), {"recent", "budget", "ratio"});
  }
  for (const Parameter& parameter : policy.parameters) names.push_back(parameter.name);
  return names;
}

// Adds "name=value" to `values`.
Result<void> read_value(std::string_view words, std::string_view kind, SpecText::Values& values) {
  const std::size_t equals = words.find('=');
  const std::string name(words.substr(0, equals));
  if (name.empty()) return usage_error("a " + std::string(kind) + " is empty; expected name=value");
  if (equals == std::string_view::npos) {
    return usage_error("the " + std::string(kind) + " '" + one_line(name) +
                       "' has no value; expected " + one_line(name) + "=value");
  }
  const bool is_new =
      values.emplace(name, SpecText::Value{std::string(words.substr(equals + 1))}).second;
  if (is_new) return {};
  return usage_error("the " + std::string(kind) + " '" + one_line(name) +
                     "' is given twice; leave one out");
}

Result<void> check_fields(const SpecText& text) {
  const Names names = fields_of(*text.policy);
  const std::string policy(text.policy->name);
  for (const auto& [name, value] : text.fields) {
    if (contains(names, name)) continue;
    if (contains(all_settings, name)) {
      return usage_error("'" + name + "' belongs after a ';', as in '" + policy + ";" + name + "=" +
                         one_line(value.text) + "'");
    }
    const std::string what = policy + " field";
    if (!names.empty()) return usage_error(unknown_word(what, name, names));
    const SpecText::Value* visibility = text.setting("visibility");
    const bool selected =
        name == "budget" && visibility != nullptr && visibility->text.starts_with("top-pages");
    return usage_error(unknown_word(what, name, {}) + "; " + policy + " takes none" +
                       (selected ? ", and how much its queries select is visibility=top-pages:" +
                                       one_line(value.text)
                                 : ""));
  }
  return {};
}

Result<void> check_settings(const SpecText& text) {
  const Names fields = fields_of(*text.policy);
  for (const auto& [name, value] : text.settings) {
    if (contains(all_settings, name)) continue;
    if (contains(fields, name)) {
      return usage_error("'" + name + "' belongs after the ':', as in '" +
                         std::string(text.policy->name) + ":" + name + "=" + one_line(value.text) +
                         "'");
    }
    return usage_error(unknown_word("setting", name, all_settings));
  }
  return {};
}

void inherit(const SpecText::Values& from, SpecText::Values& into) {
  for (const auto& [name, value] : from) {
    into.emplace(name, SpecText::Value{value.text, true});
  }
}

// Adds the values of a preset. Those written beside its name have priority.
Result<void> add_preset(std::string_view name, SpecText& text) {
  const auto preset = preset_named(name);
  if (!preset) return preset.error();
  auto read = read_spec_text(preset.value()->spec);
  if (!read) return read.error();
  SpecText& base = read.value();
  text.preset = name;
  text.policy = base.policy;

  // Budget and ratio are two ways to say one thing, so either replaces the preset's other.
  if (text.field("budget") != nullptr) base.fields.erase("ratio");
  if (text.field("ratio") != nullptr) base.fields.erase("budget");

  // Without a middle, recent and budget determine each other, so one that is written here replaces
  // both of the preset's.
  if (text.policy->protection.middle == Protection::Middle::none) {
    if (text.field("budget") != nullptr) base.fields.erase("recent");
    if (text.field("ratio") != nullptr) base.fields.erase("recent");
    if (text.field("recent") != nullptr) base.fields.erase("budget");
  }
  inherit(base.fields, text.fields);
  inherit(base.settings, text.settings);
  return {};
}

Result<void> read_name(std::string_view name, SpecText& text) {
  if (name.starts_with('@')) return add_preset(name.substr(1), text);
  const auto policy = policy_named(name);
  if (!policy) return policy.error();
  text.policy = *policy;
  return {};
}

}  // namespace

std::string one_line(std::string_view typed) {
  constexpr std::size_t longest = 100;
  std::string out(typed.substr(0, longest));
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return out + (typed.size() > longest ? "..." : "");
}

std::span<const std::string_view> setting_names() {
  return all_settings;
}

Result<SpecText> read_spec_text(std::string_view words) {
  if (auto done = check_after_name(words); !done) return done.error();
  SpecText text;
  const auto parts = split(words, ';');
  for (std::size_t i = 1; i < parts.size(); ++i) {
    if (auto done = read_value(parts[i], "setting", text.settings); !done) return done.error();
  }
  const std::size_t colon = parts[0].find(':');
  if (colon != std::string_view::npos) {
    for (const std::string_view field : split(parts[0].substr(colon + 1), ',')) {
      if (auto done = read_value(field, "field", text.fields); !done) return done.error();
    }
  }
  // After the values, because a preset adds only those that are not written.
  if (auto done = read_name(parts[0].substr(0, colon), text); !done) return done.error();
  if (auto done = check_fields(text); !done) return done.error();
  if (auto done = check_settings(text); !done) return done.error();
  return text;
}

}  // namespace kv
