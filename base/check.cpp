#include "kvcheck/base/check.h"

#include <cstdio>
#include <cstdlib>

#include "kvcheck/base/error.h"

namespace kv {

void check_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "kvcheck: internal error: %s does not hold (%s:%d)\n", condition, file,
               line);
  std::abort();
}

void throw_exception_from_error(const Error& error, const boost::source_location& at) {
  check_failed(error.message.c_str(), at.file_name(), static_cast<int>(at.line()));
}

}  // namespace kv
