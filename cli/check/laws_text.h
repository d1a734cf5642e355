// Laws in words, for --list and --explain.
#pragma once

#include <string>
#include <string_view>

#include "kvcheck/base/error.h"

namespace kv::cli {

// One line a law: its id and its sentence.
std::string law_list();

// All about one law. An unknown id is answered with the nearest.
Result<std::string> law_explained(std::string_view id);

}  // namespace kv::cli
