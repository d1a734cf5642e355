// One JSON value from the text of a whole file.
#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <string_view>

#include "kvcheck/base/error.h"

namespace kv {

// The value. Errors name the file and the line in which it is no JSON, and what was expected there:
// "'plan.json' is not JSON in line 3 (syntax error); expected a plan". A field that one object has
// twice is an error too.
Result<boost::json::value> json_value(std::string_view text,
                                      const std::string& name,
                                      std::string_view expected);

}  // namespace kv
