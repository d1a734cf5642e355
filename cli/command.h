// A subcommand of kvcheck: a function from words to an exit status, with its output passed in.
#pragma once

#include <iosfwd>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"

namespace kv::cli {

// Where a command's words go. Results go to `out`; progress and remarks to `err`, progress only if
// `terminal` (err is one).
struct Streams {
  std::ostream& out;
  std::ostream& err;
  bool terminal = false;
};

struct Command {
  std::string_view name;
  std::string_view summary;  // one line
  std::string_view help;     // the whole --help text, examples included
  Result<void> (*run)(std::span<const std::string> words, Streams& streams);
};

// All commands, in the order of --help.
std::span<const Command* const> commands();

// What main() does: exit status 0, 1 (a law is broken), 2 (usage or bad input), 3 (internal).
int run_main(std::span<const std::string> words, Streams& streams);

}  // namespace kv::cli
