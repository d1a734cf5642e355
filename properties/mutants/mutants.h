// Mutants: subjects that are wrong on purpose, each a few lines over a right one, kept to show that
// some law kills them.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "kvcheck/properties/family.h"

namespace kv::properties {

struct Mutant {
  std::string_view name;    // named by what is wrong: "mask-width-from-stream-length"
  std::string_view wrong;   // one line
  std::string_view source;  // project and thread, or paper and figure, where it was seen; or "made"
  std::function<std::unique_ptr<Family>(std::string_view name)> family;
  std::string_view equivalent{};  // why no law can tell it from a right subject; empty: one must

  [[nodiscard]] std::unique_ptr<Family> make() const { return family(name); }
};

std::span<const Mutant> mutants();

}  // namespace kv::properties
