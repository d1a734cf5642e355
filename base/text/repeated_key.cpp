#include "kvcheck/base/text/repeated_key.h"

#include <algorithm>
#include <boost/json/basic_parser_impl.hpp>
#include <cstdint>
#include <limits>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "kvcheck/base/text/printable.h"

namespace kv {
namespace {

using ErrorCode = boost::json::error_code;
using Text = boost::json::string_view;

// Receives the parser's events.
class KeyEvents {
 public:
  static constexpr std::size_t max_object_size = std::numeric_limits<std::size_t>::max();
  static constexpr std::size_t max_array_size = std::numeric_limits<std::size_t>::max();
  static constexpr std::size_t max_key_size = std::numeric_limits<std::size_t>::max();
  static constexpr std::size_t max_string_size = std::numeric_limits<std::size_t>::max();

  std::optional<std::string> found;  // may be the empty field

  bool on_document_begin(ErrorCode&) { return true; }

  bool on_document_end(ErrorCode&) { return true; }

  bool on_object_begin(ErrorCode&) {
    open_.emplace_back();
    return true;
  }

  bool on_object_end(std::size_t, ErrorCode&) {
    open_.pop_back();
    return true;
  }

  bool on_array_begin(ErrorCode&) { return true; }

  bool on_array_end(std::size_t, ErrorCode&) { return true; }

  bool on_key_part(Text part, std::size_t, ErrorCode&) {
    key_.append(part.data(), part.size());
    return true;
  }

  bool on_key(Text part, std::size_t, ErrorCode& code) {
    key_.append(part.data(), part.size());
    if (open_.back().insert(key_).second) {
      key_.clear();
      return true;
    }
    found = std::exchange(key_, {});
    code = boost::json::error::extra_data;  // any, to end the parse
    return false;
  }

  bool on_string_part(Text, std::size_t, ErrorCode&) { return true; }

  bool on_string(Text, std::size_t, ErrorCode&) { return true; }

  bool on_number_part(Text, ErrorCode&) { return true; }

  bool on_int64(std::int64_t, Text, ErrorCode&) { return true; }

  bool on_uint64(std::uint64_t, Text, ErrorCode&) { return true; }

  bool on_double(double, Text, ErrorCode&) { return true; }

  bool on_bool(bool, ErrorCode&) { return true; }

  bool on_null(ErrorCode&) { return true; }

  bool on_comment_part(Text, ErrorCode&) { return true; }

  bool on_comment(Text, ErrorCode&) { return true; }

 private:
  std::vector<std::unordered_set<std::string>> open_;  // the keys of the objects around this place
  std::string key_;
};

}  // namespace

Result<void> check_keys(std::string_view json, const std::string& where) {
  boost::json::basic_parser<KeyEvents> parser(boost::json::parse_options{});
  ErrorCode code;
  const std::size_t read = parser.write_some(false, json.data(), json.size(), code);
  const std::optional<std::string>& twice = parser.handler().found;
  if (!twice) return {};
  const auto breaks = std::ranges::count(json.substr(0, read), '\n');
  const std::string again =
      breaks == 0 ? "" : ", the second time in line " + std::to_string(breaks + 1);
  return malformed(where + " has the field '" + printable_line(*twice) + "' twice in one object" +
                   again + "; expected each field once");
}

}  // namespace kv
