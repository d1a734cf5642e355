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

// An option of a command, as its help tells of it.
struct OptionHelp {
  std::string name;   // without its dashes
  std::string value;  // the word for its value; empty for a switch
  std::string help;
  std::string default_value;  // empty: there is none
  bool list = false;          // may be repeated
};

// The options of the command of that name, in the order of its help; none if there is no such
// command.
std::vector<OptionHelp> options_of(const std::string& command);

// Runs the program with these arguments. Commands that are interrupted end with status 130. Must be
// called without Python's lock, which policies of Python take when they are called.
Printed run_program(const std::vector<std::string>& arguments);

// The same on the process's own streams, like the program's main(). Returns the exit status.
int run_on_terminal(const std::vector<std::string>& arguments);

}  // namespace kv::python
