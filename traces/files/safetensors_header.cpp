#include "kvcheck/traces/files/safetensors_header.h"

#include <boost/json/basic_parser_impl.hpp>
#include <limits>
#include <set>
#include <utility>

#include "kvcheck/base/text/describe.h"

namespace kv {
namespace {

using ErrorCode = boost::json::error_code;
using Text = boost::json::string_view;

constexpr std::size_t max_dimensions = 8;

// Receives the parser's events and checks that they have the form of a header. The first error
// stops the parse, with its message in `problem`.
class HeaderEvents {
 public:
  static constexpr std::size_t max_object_size = std::numeric_limits<std::size_t>::max();
  static constexpr std::size_t max_array_size = max_dimensions;
  static constexpr std::size_t max_key_size = std::numeric_limits<std::size_t>::max();
  static constexpr std::size_t max_string_size = std::numeric_limits<std::size_t>::max();

  SafetensorsHeader header;
  std::string problem;

  bool on_document_begin(ErrorCode&) { return true; }

  bool on_document_end(ErrorCode&) { return true; }

  bool on_object_begin(ErrorCode& code) {
    if (place_ == Place::document) {
      place_ = Place::header;
      return true;
    }
    if (place_ != Place::header) return refuse("an object", code);
    if (key_ == "__metadata__") {
      place_ = Place::metadata;
      return true;
    }
    place_ = Place::tensor;
    fields_.clear();
    header.tensors.push_back({key_, "", {}, {}});
    return true;
  }

  bool on_object_end(std::size_t, ErrorCode& code) {
    if (place_ == Place::tensor) {
      for (const char* field : {"dtype", "shape", "data_offsets"}) {
        if (!fields_.contains(field)) {
          return stop("tensor " + shown(tensor().name) + " has no '" + field + "'", code);
        }
      }
    }
    place_ = Place::header;
    return true;
  }

  bool on_array_begin(ErrorCode& code) {
    if (place_ != Place::tensor || key_ == "dtype") return refuse("a list", code);
    place_ = key_ == "shape" ? Place::shape : Place::offsets;
    return true;
  }

  bool on_array_end(std::size_t size, ErrorCode& code) {
    if (place_ == Place::offsets && size != 2) {
      return stop("tensor " + shown(tensor().name) + " has " + std::to_string(size) +
                      " data_offsets; expected 2, begin and end",
                  code);
    }
    place_ = Place::tensor;
    return true;
  }

  bool on_key_part(Text part, std::size_t, ErrorCode&) {
    partial_.append(part.data(), part.size());
    return true;
  }

  bool on_key(Text part, std::size_t, ErrorCode& code) {
    key_ = whole(part);
    if (place_ == Place::header && !names_.insert(key_).second) {
      return stop("the header has " + shown(key_) + " twice; expected each name once", code);
    }
    if (place_ == Place::metadata && header.metadata.contains(key_)) {
      return stop("__metadata__ has " + shown(key_) + " twice; expected each name once", code);
    }
    if (place_ != Place::tensor) return true;
    if (key_ != "dtype" && key_ != "shape" && key_ != "data_offsets") {
      return stop("tensor " + shown(tensor().name) + " has a field " + shown(key_) +
                      "; expected dtype, shape and data_offsets",
                  code);
    }
    if (fields_.insert(key_).second) return true;
    return stop("tensor " + shown(tensor().name) + " has '" + key_ + "' twice", code);
  }

  bool on_string_part(Text part, std::size_t, ErrorCode&) {
    partial_.append(part.data(), part.size());
    return true;
  }

  bool on_string(Text part, std::size_t, ErrorCode& code) {
    std::string value = whole(part);
    if (place_ == Place::metadata) {
      header.metadata.emplace(key_, std::move(value));
      return true;
    }
    if (place_ != Place::tensor || key_ != "dtype") return refuse("a string", code);
    tensor().dtype = std::move(value);
    return true;
  }

  bool on_number_part(Text, ErrorCode&) { return true; }

  // The parser reports every number that fits as int64; on_uint64 gets only larger ones.
  bool on_int64(std::int64_t value, Text text, ErrorCode& code) {
    if (value < 0) return refuse("the number " + std::string(text), code);
    return on_uint64(static_cast<std::uint64_t>(value), text, code);
  }

  bool on_uint64(std::uint64_t value, Text text, ErrorCode& code) {
    if (place_ == Place::shape) {
      tensor().shape.push_back(value);
    } else if (place_ == Place::offsets) {
      tensor().offsets.push_back(value);
    } else {
      return refuse("the number " + std::string(text), code);
    }
    return true;
  }

  // Sizes and offsets are whole numbers, so 512.0 and 1e3 are refused.
  bool on_double(double, Text text, ErrorCode& code) {
    return refuse("the number " + shown({text.data(), text.size()}), code);
  }

  bool on_bool(bool value, ErrorCode& code) { return refuse(value ? "true" : "false", code); }

  bool on_null(ErrorCode& code) { return refuse("null", code); }

  bool on_comment_part(Text, ErrorCode&) { return true; }

  bool on_comment(Text, ErrorCode&) { return true; }

 private:
  enum class Place { document, header, metadata, tensor, shape, offsets };

  SafetensorsEntry& tensor() { return header.tensors.back(); }

  std::string whole(Text last_part) {
    partial_.append(last_part.data(), last_part.size());
    return std::exchange(partial_, {});
  }

  bool stop(std::string sentence, ErrorCode& code) {
    problem = std::move(sentence);
    code = boost::json::make_error_code(boost::json::error::syntax);
    return false;
  }

  bool refuse(const std::string& found, ErrorCode& code) {
    return stop(where() + " is " + found + "; expected " + expected(), code);
  }

  std::string where() {
    switch (place_) {
      case Place::document:
        return "the header";
      case Place::header:
        return "entry " + shown(key_);
      case Place::metadata:
        return "__metadata__ " + shown(key_);
      case Place::tensor:
        return "'" + key_ + "' of tensor " + shown(tensor().name);
      case Place::shape:
        return "a size in the shape of tensor " + shown(tensor().name);
      case Place::offsets:
        break;
    }
    return "a data offset of tensor " + shown(tensor().name);
  }

  const char* expected() {
    switch (place_) {
      case Place::document:
        return "an object";
      case Place::header:
        return "an object with dtype, shape and data_offsets";
      case Place::metadata:
        return "a string";
      case Place::tensor:
        return key_ == "dtype" ? "a string" : "a list of whole numbers";
      case Place::shape:
      case Place::offsets:
        break;
    }
    return "a whole number from 0 to 18446744073709551615";
  }

  Place place_ = Place::document;
  std::string key_;
  std::string partial_;           // the parts of a string so far
  std::set<std::string> names_;   // of the header
  std::set<std::string> fields_;  // of the tensor being read
};

}  // namespace

Result<SafetensorsHeader> parse_safetensors_header(std::string_view json) {
  boost::json::parse_options options;
  options.max_depth = 4;
  boost::json::basic_parser<HeaderEvents> parser(options);
  ErrorCode code;
  const std::size_t used = parser.write_some(false, json.data(), json.size(), code);
  HeaderEvents& events = parser.handler();
  if (!events.problem.empty()) return malformed(events.problem);
  if (!code && used < json.size()) code = boost::json::error::extra_data;
  if (code) {
    return malformed("the header is not JSON at byte " + std::to_string(used) + " of it (" +
                     code.message() + ")");
  }
  return std::move(events.header);
}

}  // namespace kv
