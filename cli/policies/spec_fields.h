// The fields and settings of specs, with their defaults and meanings.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kvcheck/policies/entry.h"

namespace kv::cli {

// A field or setting of a spec: its name, its default, the valid words if they are few, and its
// meaning.
struct SpecField {
  std::string name;
  std::string default_value;
  std::vector<std::string> choices{};
  std::string meaning;
  Parameter::Range range{};                                      // of a number that is not a size
  std::vector<std::pair<std::string, std::string>> explained{};  // choices with a meaning each
};

// The fields that the policy takes, in the order of a spec.
std::vector<SpecField> fields_of(const PolicyEntry& policy);

// The settings that every spec takes.
std::vector<SpecField> spec_settings();

}  // namespace kv::cli
