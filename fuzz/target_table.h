// The table of all fuzz targets.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "kvcheck/fuzz/targets/targets.h"

namespace kv::fuzz {

struct Target {
  std::string_view name;     // of its folder in fuzz/corpus
  std::size_t longest = 0;   // input in bytes that is tried
  bool (*run)(Input input);  // whether the input was accepted
};

// By the layer that is tried, lowest first.
std::span<const Target> targets();

// Null if there is no target of that name.
const Target* find_target(std::string_view name);

}  // namespace kv::fuzz
