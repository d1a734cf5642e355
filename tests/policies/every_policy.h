// Every policy of the registry with every choice of its parameters.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "policies/registry.h"

namespace kv {

struct PolicyChoice {
  const PolicyEntry* entry;
  Options options;
  std::string name;

  [[nodiscard]] std::unique_ptr<Policy> make() const { return entry->make(options); }
};

// For GoogleTest, which prints bytes else.
inline void PrintTo(const PolicyChoice& choice, std::ostream* out) {
  *out << choice.name;
}

// Those with a middle to choose from; each parameter varied alone.
inline std::vector<PolicyChoice> every_choosing_policy() {
  std::vector<PolicyChoice> choices;
  for (const PolicyEntry& entry : policy_registry()) {
    if (entry.protection.middle != Protection::Middle::some) continue;
    const Options usual(entry.parameters);
    choices.push_back({&entry, usual, std::string(entry.name)});
    for (const Parameter& parameter : entry.parameters) {
      for (const std::string_view word : parameter.choices) {
        if (word == parameter.default_value) continue;
        Options options = usual;
        options.set(parameter.name, word);
        choices.push_back({&entry, options, std::string(entry.name) + ":" + std::string(word)});
      }
    }
  }
  return choices;
}

}  // namespace kv
