// Every policy of the registry with every choice of its parameters.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "kvcheck/base/text/text.h"
#include "kvcheck/policies/policy.h"
#include "kvcheck/policies/registry/registry.h"

namespace kv {

// The legal words except the default. For numbers, the least and, if it is at most 100, the most.
inline std::vector<std::string> other_values(const Parameter& parameter) {
  std::vector<std::string> values(parameter.choices.begin(), parameter.choices.end());
  if (parameter.range.of != Parameter::Range::Of::names) {
    values.push_back(shortest(parameter.range.least));
    if (parameter.range.most <= 100) values.push_back(shortest(parameter.range.most));
  }
  std::erase(values, parameter.default_value);
  return values;
}

struct PolicyChoice {
  const PolicyEntry* entry;
  Options options;
  std::string name;

  [[nodiscard]] std::unique_ptr<Policy> make() const { return entry->make(options); }
};

// For GoogleTest, which would print bytes otherwise.
inline void PrintTo(const PolicyChoice& choice, std::ostream* out) {
  *out << choice.name;
}

// The policies with a middle to select from, with each parameter varied alone.
inline std::vector<PolicyChoice> every_selecting_policy() {
  std::vector<PolicyChoice> choices;
  for (const PolicyEntry& entry : policy_registry()) {
    if (entry.protection.middle != Protection::Middle::some) continue;
    const Options usual(entry.parameters);
    choices.push_back({&entry, usual, std::string(entry.name)});
    for (const Parameter& parameter : entry.parameters) {
      for (const std::string& word : other_values(parameter)) {
        Options options = usual;
        options.set(parameter.name, word);
        choices.push_back(
            {&entry, options,
             std::string(entry.name) + ":" + std::string(parameter.name) + "=" + word});
      }
    }
  }
  return choices;
}

}  // namespace kv
