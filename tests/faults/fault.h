// Running the program with a fault of the library for LD_PRELOAD (library/failing_calls.cpp).
#pragma once

#include <string>

#include "kvcheck/tests/cli/run.h"

namespace kv::test {

struct Fault {
  std::string call;    // a name of call_names
  unsigned at = 1;     // the number of the call that fails, from 1
  int error = 0;       // as in <cerrno>
  bool lasts = false;  // all later calls fail, too
};

// Whether the library works in this build: a sanitizer has an allocator of its own.
bool can_let_calls_fail();

// The program's run in a folder, with these arguments, which a shell splits.
Ran run_with(const Fault& fault, const std::string& arguments, const std::string& folder = ".");

// The words before a command that load the library without a fault.
std::string with_library();

}  // namespace kv::test
