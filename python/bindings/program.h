// The program's commands, run inside the Python process.
#pragma once

#include <string>
#include <vector>

namespace kv::python {

struct Printed {
  int status = 0;   // the exit status of the program
  std::string out;  // what it would have printed on standard output
  std::string err;  // and on standard error
};

// Runs the program with these arguments. Commands that are interrupted end with status 130. Must be
// called without Python's lock, which policies of Python take when they are called.
Printed run_program(const std::vector<std::string>& arguments);

// The same on the process's own streams, like the program's main(). Returns the exit status.
int run_on_terminal(const std::vector<std::string>& arguments);

}  // namespace kv::python
