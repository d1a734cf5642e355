// Errors of the library as exceptions of Python.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "kvcheck/base/error.h"

namespace kv::python {

// Becomes kvcheck.Error, with the sentence that the program prints.
class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Becomes KeyboardInterrupt.
class Interrupted : public std::runtime_error {
 public:
  Interrupted() : std::runtime_error("interrupted") {}
};

// The value, or a Failure with the error's sentence.
template <typename T>
T value_of(Result<T> result) {
  if (!result) throw Failure(result.error().message);
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

}  // namespace kv::python
