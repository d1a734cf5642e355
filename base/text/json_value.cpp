#include "kvcheck/base/text/json_value.h"

#include <algorithm>
#include <boost/json/stream_parser.hpp>
#include <cstddef>

#include "kvcheck/base/text/repeated_key.h"

namespace kv {

Result<boost::json::value> json_value(std::string_view text,
                                      const std::string& name,
                                      std::string_view expected) {
  boost::json::stream_parser parser;
  boost::json::error_code failed;
  const std::size_t used = parser.write_some(text.data(), text.size(), failed);
  if (!failed && used < text.size()) failed = boost::json::error::extra_data;
  if (!failed) parser.finish(failed);
  if (!failed) {
    if (auto once = check_keys(text, "'" + name + "'"); !once) return once.error();
    return parser.release();
  }
  const auto before = text.substr(0, std::min(used, text.size()));
  const auto line = 1 + std::ranges::count(before, '\n');
  return malformed("'" + name + "' is not JSON in line " + std::to_string(line) + " (" +
                   failed.message() + "); expected " + std::string(expected));
}

}  // namespace kv
