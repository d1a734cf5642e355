// Comma-separated values, RFC 4180, lines ended by LF.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace kv::reports {

// The field, between quotes if it contains a comma, a quote or a line break.
std::string csv_field(std::string_view text);

// The fields as one line, with its line end.
std::string csv_line(std::span<const std::string> fields);

}  // namespace kv::reports
