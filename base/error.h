// Error: something outside the program is wrong, such as a file, a word on the command line or a
// full disk.
//
// Libraries return an Error in a Result and never print, exit or throw of their own. Bugs do not
// become Errors; they fail a KV_CHECK (base/check.h).
#pragma once

#include <boost/system/result.hpp>
#include <source_location>
#include <string>
#include <utility>

namespace kv {

struct Error {
  enum class Kind { usage, not_found, malformed, unsupported, io, busy };

  Kind kind = Kind::malformed;

  // One sentence without a trailing newline: the file, offset or word that is wrong, what was
  // found there and what was expected.
  std::string message;

  bool operator==(const Error&) const = default;
};

// Either a T or an Error. The shape of std::expected, which g++ 12 does not have in C++20.
template <typename T>
using Result = boost::system::result<T, Error>;

// boost::system::result calls this if value() finds an Error, which is a bug in the caller.
[[noreturn]] void throw_exception_from_error(const Error& error, const boost::source_location& at);

// Builds the Error that most functions return.
inline Error malformed(std::string message) {
  return {Error::Kind::malformed, std::move(message)};
}

inline Error usage_error(std::string message) {
  return {Error::Kind::usage, std::move(message)};
}

inline Error io_error(std::string message) {
  return {Error::Kind::io, std::move(message)};
}

}  // namespace kv
