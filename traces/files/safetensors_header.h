// The JSON header of a safetensors file, as it is written; nothing is compared with the data yet.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kvcheck/base/error.h"

namespace kv {

struct SafetensorsEntry {
  std::string name;
  std::string dtype;
  std::vector<std::uint64_t> shape;
  std::vector<std::uint64_t> offsets;  // begin and end
};

struct SafetensorsHeader {
  std::map<std::string, std::string> metadata;
  std::vector<SafetensorsEntry> tensors;
};

// Strict where general JSON readers are not: duplicate names, unknown fields and numbers that are
// not whole are errors.
Result<SafetensorsHeader> parse_safetensors_header(std::string_view json);

}  // namespace kv
