// A subcommand of kvcheck: a function from words to an outcome, with its output passed in.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "cli/options.h"

namespace kv::cli {

// Where a command's words go. Results go to `out`; progress and remarks to `err`, progress only if
// `terminal` (err is one).
struct Streams {
  std::ostream& out;
  std::ostream& err;
  bool terminal = false;
  std::size_t columns = 0;  // of the terminal that `out` is; 0: it is none, nothing is wrapped
};

// What a command that ran to its end found out.
enum class Outcome {
  done,        // or: every law holds
  law_broken,  // what was checked is wrong; the command said how
};

struct Command {
  std::string_view name;
  std::string_view summary;  // one line

  // The whole --help text, examples included. A line that says {options} is replaced by the table
  // of `options`.
  std::string_view help;
  Result<Outcome> (*run)(std::span<const std::string> words, Streams& streams);

  // What `help` shows for {options}: the table that `run` parses with.
  std::span<const Option> options{};

  // Verbs that are commands of their own: what `kvcheck NAME VERB` runs.
  std::span<const Command* const> verbs{};
};

// Command::run for a command that judges nothing: `work` is done, or an error.
template <Result<void> (*work)(std::span<const std::string> words, Streams& streams)>
Result<Outcome> done_unless_error(std::span<const std::string> words, Streams& streams) {
  if (const Result<void> result = work(words, streams); !result) return result.error();
  return Outcome::done;
}

// All commands, in the order of --help.
std::span<const Command* const> commands();

// Whether --help or -h is among the words, before any --.
bool asks_for_help(std::span<const std::string> words);

// What main() does with the words after the program's name. Exit status:
//   0    done, or every law holds
//   1    a law is broken
//   2    usage or bad input, or the output could not be written
//   3    internal
//   130  interrupted (SIGINT or SIGTERM) by a command that stopped in good order
int run_main(std::span<const std::string> words, Streams& streams);

// One command: its help if asked for, else its run, with errors and exceptions told on streams.err
// in one sentence. `words` are those after the command's name. Gives the exit status.
int run_command(const Command& command, std::span<const std::string> words, Streams& streams);

}  // namespace kv::cli
