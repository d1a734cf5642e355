// A spec as text: its fields and settings as words, before they are interpreted.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "kvcheck/base/error.h"
#include "kvcheck/policies/registry/registry.h"

namespace kv {

struct SpecText {
  struct Value {
    std::string text;
    bool from_preset = false;
  };

  using Values = std::map<std::string, Value, std::less<>>;

  const PolicyEntry* policy = nullptr;
  std::string preset;  // its name without the @, or empty
  Values fields;       // after the ':', each one that the policy takes
  Values settings;     // after a ';', by name; values are not checked here

  // The field's or the setting's value, or null.
  [[nodiscard]] const Value* field(std::string_view name) const { return value(fields, name); }

  [[nodiscard]] const Value* setting(std::string_view name) const { return value(settings, name); }

 private:
  static const Value* value(const Values& values, std::string_view name) {
    const auto found = values.find(name);
    return found == values.end() ? nullptr : &found->second;
  }
};

// Splits the text into fields and settings. Those written after a preset replace the preset's.
// Errors: an unknown policy, preset, field or setting, a field that the policy does not take, a
// missing value, a name that is given twice.
Result<SpecText> read_spec_text(std::string_view text);

// The typed text as one short line for messages, whatever bytes it holds.
std::string one_line(std::string_view typed);

// The names of the settings, in the order of the canonical text.
std::span<const std::string_view> setting_names();

}  // namespace kv
