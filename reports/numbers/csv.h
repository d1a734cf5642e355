// Comma-separated values, RFC 4180, lines ended by LF.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace kv::reports {

// The field, between quotes when it holds a comma, a quote or a line break.
std::string csv_field(std::string_view text);

// A line with its end.
std::string csv_line(std::span<const std::string> fields);

}  // namespace kv::reports
