#include "kvcheck/cli/options/command.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <new>
#include <ostream>
#include <system_error>

#include "kvcheck/base/text/printable.h"
#include "kvcheck/cli/options/interrupt.h"
#include "kvcheck/cli/options/terminal.h"
#include "kvcheck/properties/stop.h"

namespace kv::cli {
namespace {

int run_guarded(const Command& command,
                std::string_view caller,
                std::span<const std::string> arguments,
                Streams& streams) {
  try {
    const Result<Outcome> result = command.run(arguments, streams);
    if (!result) return report_error(caller, result.error(), streams);
    if (*result == Outcome::incomplete) return exit_status::incomplete;
    return *result == Outcome::law_broken ? exit_status::law_broken : exit_status::done;
  } catch (const properties::Interrupted& interruption) {
    // Only commands that write at their end are ended in this way, before they have anything.
    return report_error(
        caller, io_error(std::string(interruption.what()) + "; nothing was written"), streams);
  } catch (const std::bad_alloc&) {
    streams.err << caller << ": out of memory\n";
  } catch (const std::system_error& error) {
    // The system refused a process or a thread, which is no fault of the program.
    streams.err << caller << ": " << printable(error.what()) << '\n';
    return exit_status::bad_input;
  } catch (const std::exception& exception) {
    streams.err << caller << ": internal error: " << printable(exception.what()) << '\n';
  } catch (...) {
    streams.err << caller << ": internal error: an exception of an unknown kind\n";
  }
  return exit_status::internal;
}

// The first parameter is the command as the user called it.
int run_named(const Command& command,
              std::string_view caller,
              std::span<const std::string> arguments,
              Streams& streams) {
  if (asks_for_help(arguments)) {
    streams.out << folded(help_of(command), streams.columns);
    return flushed(caller, exit_status::done, streams);
  }
  return flushed(caller, run_guarded(command, caller, arguments, streams), streams);
}

}  // namespace

std::string help_of(const Command& command) {
  constexpr std::string_view placeholder = "{options}\n";
  std::string text(command.help);
  if (!text.empty() && text.back() != '\n') text += '\n';
  if (const std::size_t at = text.find(placeholder); at != std::string::npos) {
    text.replace(at, placeholder.size(), option_table(command.options));
  }
  return text;
}

int flushed(std::string_view caller, int status, Streams& streams) {
  errno = 0;
  if (streams.out.rdbuf()->pubsync() == 0 && streams.out.good()) return status;
  const int code = errno;
  // A command that failed has said why in one sentence. What it had printed before is not missed.
  const bool wrote_results = status == exit_status::done || status == exit_status::law_broken ||
                             status == exit_status::incomplete;
  if (!wrote_results) return status;
  streams.err << caller << ": cannot write to standard output";
  if (code != 0) streams.err << ": " << std::strerror(code);
  streams.err << '\n';
  return status == exit_status::done ? exit_status::bad_input : status;
}

int report_error(std::string_view caller, const Error& error, Streams& streams) {
  streams.err << caller << ": " << printable(error.message);
  if (error.kind == Error::Kind::usage) {
    streams.err << (error.message.ends_with('?') ? " See " : "; see ") << caller << " --help";
  }
  streams.err << '\n';
  return interrupted() ? exit_status::interrupted : exit_status::bad_input;
}

const Command* find_verb(const Command& command, std::string_view name) {
  const auto found = std::ranges::find(command.verbs, name, &Command::name);
  return found == command.verbs.end() ? nullptr : *found;
}

int run_command(const Command& command, std::span<const std::string> arguments, Streams& streams) {
  forget_interrupt();
  const std::string caller = "kvcheck " + std::string(command.name);
  const Command* const verb = arguments.empty() ? nullptr : find_verb(command, arguments[0]);
  if (verb != nullptr)
    return run_named(*verb, caller + " " + arguments[0], arguments.subspan(1), streams);
  return run_named(command, caller, arguments, streams);
}

bool asks_for_help(std::span<const std::string> arguments) {
  for (const std::string& word : arguments) {
    if (word == "--") return false;
    if (word == "--help" || word == "-h") return true;
  }
  return false;
}

}  // namespace kv::cli
