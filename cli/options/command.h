// A subcommand of kvcheck: a function of its arguments, with its output passed in.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>

#include "kvcheck/base/error.h"
#include "kvcheck/cli/options/options.h"

namespace kv::cli {

// The output of a command. Results are written to `out`, progress and remarks to `err`; progress
// only if `terminal`, which means that `err` is a terminal (cli/options/terminal.h).
struct Streams {
  std::ostream& out;
  std::ostream& err;
  bool terminal = false;
  std::size_t columns = 0;  // of the terminal that `out` is; 0: not a terminal, nothing is folded
  bool colours = false;     // whether `out` shows colours
};

// The outcome of a command that ran to its end.
enum class Outcome {
  done,        // or: every law holds
  law_broken,  // the command printed which law and how
  incomplete,  // no law is broken, but not all were run, and that was required
};

// Exit statuses of the program.
namespace exit_status {
inline constexpr int done = 0;  // or: every law holds
inline constexpr int law_broken = 1;
inline constexpr int bad_input = 2;  // usage, bad input, or the output could not be written
inline constexpr int incomplete = 3;
inline constexpr int internal = 3;  // or memory ran out: nothing is known, as with `incomplete`
inline constexpr int interrupted = 130;  // SIGINT or SIGTERM, in good order
}  // namespace exit_status

struct Command {
  std::string_view name;
  std::string_view summary;  // one line

  // The whole --help text, examples included. A line that says {options} is replaced by the table
  // of `options`.
  std::string_view help;
  Result<Outcome> (*run)(std::span<const std::string> arguments, Streams& streams);

  // The table of options that `run` parses with and `help` shows in place of {options}.
  std::span<const Option> options{};

  // Verbs that are commands of their own, which `kvcheck NAME VERB` runs.
  std::span<const Command* const> verbs{};

  // Words that the first operand may be, which shells offer; empty: a file or another free word.
  std::span<const std::string_view> first_words{};
};

// Command::run for a command that checks no laws: it is done unless `work` returns an error.
template <Result<void> (*work)(std::span<const std::string> arguments, Streams& streams)>
Result<Outcome> done_unless_error(std::span<const std::string> arguments, Streams& streams) {
  if (const Result<void> result = work(arguments, streams); !result) return result.error();
  return Outcome::done;
}

// Whether --help or -h is among the words, before any --.
bool asks_for_help(std::span<const std::string> arguments);

// Runs one command: prints its help on request, or runs it and reports errors and exceptions on
// streams.err in one sentence. `arguments` are those after the command's name. Returns the exit
// status.
int run_command(const Command& command, std::span<const std::string> arguments, Streams& streams);

// Parts of run_command that the program's own options (cli/commands.cpp) use too.

// The command's --help text with its options filled in.
std::string help_of(const Command& command);

// The verb of that name; null if the command has none.
const Command* find_verb(const Command& command, std::string_view name);

// Prints the error after the command's name and returns the exit status for it.
int report_error(std::string_view caller, const Error& error, Streams& streams);

// Returns `status`, or bad_input with a message if standard output could not be written: a table
// that a full disk has lost is not a success.
int flushed(std::string_view caller, int status, Streams& streams);

}  // namespace kv::cli
