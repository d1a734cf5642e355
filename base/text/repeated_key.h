// Fields that a JSON text gives twice, of which parsers silently keep one.
#pragma once

#include <string>
#include <string_view>

#include "kvcheck/base/error.h"

namespace kv {

// An error if one object of the text has a field twice; it names the first such field, after
// `where`, and the line if there are several. A text is read up to where it is not JSON. Time and
// memory are linear in the text.
Result<void> check_keys(std::string_view json, const std::string& where);

}  // namespace kv
