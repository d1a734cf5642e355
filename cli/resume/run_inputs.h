// What decides the numbers of a run, as text: two runs with the same text have the same results.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kvcheck/base/error.h"

namespace kv::cli {

// An item for one input: "KIND 'NAME': XXH3-64 0123456789abcdef".
std::string input_item(std::string_view kind, std::string_view name, std::uint64_t checksum);

// The items of a file; of a folder, those of its configuration and weights (config.json and
// *.safetensors with their index). Errors: a file cannot be read. Cost: reads all of it.
Result<std::vector<std::string>> items_of_path(std::string_view kind, const std::string& path);

// One checksum of the items of this kind, whatever the names of their files; never 0.
std::uint64_t checksum_of_items(std::span<const std::string> items, std::string_view kind);

// The version, the command, and the items, one a line; with those of the libraries of --load, whose
// policies decide the numbers, too. Errors: a library cannot be read.
Result<std::string> identity_of_run(std::string_view command, std::span<const std::string> items);

}  // namespace kv::cli
