// What the registry needs to know of a policy class of Python.
#pragma once

#include <pybind11/pybind11.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kvcheck/policies/entry.h"
#include "kvcheck/policies/needs.h"
#include "kvcheck/properties/cases/child_time.h"

namespace kv::python {

// The methods of a policy that kvcheck calls.
enum class Method { init, observe, evict, forget, clone, save, load };

inline constexpr std::array<const char*, 7> method_names = {
    "__init__", "observe", "evict", "forget", "clone", "save", "load"};

// A policy class as the registry needs it. Entries point into its texts, and specs to
// entries, so it lives as long as the process.
struct Definition {
  pybind11::object type;
  std::string name;
  std::string summary;
  std::string source;
  std::string differs;
  std::string cost;
  std::vector<std::string> claim_texts;
  std::vector<std::string_view> claims;
  std::vector<std::string> parameter_texts;  // reserved, so that they do not move
  std::vector<std::vector<std::string_view>> choices;
  std::vector<Parameter> parameters;
  Needs needs;
  bool forgets = false;  // whether the class has a forget() of its own

  // By Method: what is said of a call that does not return, or takes longer than the class allows.
  std::array<properties::CallWords, method_names.size()> calls;

  [[nodiscard]] const properties::CallWords& words_of(Method method) const {
    return calls.at(static_cast<std::size_t>(method));
  }
};

// Reads a description, an object with the attributes of kvcheck.policies.Description. Throws
// Failure if a parameter is wrong.
std::unique_ptr<Definition> definition_of(const pybind11::object& described);

}  // namespace kv::python
