// On which line of a JSON text a field stands, for errors that name the field (json_at.h).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "kvcheck/base/error.h"

namespace kv {

// The line, from 1 on, on which the value with this path begins, such as
// "plan.replay.policies[2]". The first word stands for the whole text. Where there is no such field
// or element it is the line of the object or array that lacks it. Requires a JSON text. Cost: reads
// the text once.
std::size_t json_line(std::string_view json, std::string_view path);

// The error with the line of the field that it names: "'plan.json': plan.seeds: expected ..."
// becomes "'plan.json', line 3: plan.seeds: expected ...". `name` is that of the file. Any other
// error is returned as it is.
Error with_line(Error error, std::string_view json, const std::string& name);

}  // namespace kv
