#include "kvcheck/base/text/json_value.h"

#include <algorithm>
#include <boost/json/stream_parser.hpp>
#include <cstddef>

#include "kvcheck/base/text/json_text.h"
#include "kvcheck/base/text/repeated_key.h"

namespace kv {

Result<boost::json::value> json_value(std::string_view text,
                                      const std::string& name,
                                      std::string_view expected) {
  if (text.starts_with("\xEF\xBB\xBF")) {
    return malformed("'" + name + "' begins with a byte order mark; expected a file without one");
  }
  boost::json::stream_parser parser;
  boost::json::error_code failed;
  const std::size_t used = parser.write_some(text.data(), text.size(), failed);
  if (!failed && used < text.size()) failed = boost::json::error::extra_data;
  if (!failed) parser.finish(failed);
  if (!failed) {
    if (auto once = check_keys(text, "'" + name + "'"); !once) return once.error();
    return parser.release();
  }
  const auto line_of = [&](std::size_t at) {
    return std::to_string(1 + std::ranges::count(text.substr(0, std::min(at, text.size())), '\n'));
  };
  // The parser's own word for bytes that are no character is a syntax error.
  std::size_t good = 0;
  while (good < text.size() && utf8_length(text.substr(good)) > 0) {
    good += utf8_length(text.substr(good));
  }
  if (good < text.size() && good <= used) {
    return malformed("'" + name + "' is not UTF-8 at byte " + std::to_string(good) + ", in line " +
                     line_of(good) + "; expected " + std::string(expected));
  }
  return malformed("'" + name + "' is not JSON in line " + line_of(used) + " (" + failed.message() +
                   "); expected " + std::string(expected));
}

}  // namespace kv
