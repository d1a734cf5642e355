#include "cli/command.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <exception>
#include <new>
#include <ostream>
#include <vector>

#include "base/kernel_choice.h"
#include "base/printable.h"
#include "base/version.h"
#include "base/words.h"
#include "cli/check.h"
#include "cli/eval.h"
#include "cli/generate.h"
#include "cli/interrupt.h"
#include "cli/load.h"
#include "cli/policies.h"
#include "cli/protocol.h"
#include "cli/record.h"
#include "cli/replay.h"
#include "cli/report.h"
#include "cli/selftest.h"
#include "cli/speed.h"
#include "cli/trace.h"
#include "cli/uniformity.h"

namespace kv::cli {
namespace {

constexpr int done = 0;
constexpr int law_broken = 1;
constexpr int bad_input = 2;
constexpr int internal = 3;
constexpr int stopped = 130;

constexpr std::string_view about =
    "kvcheck replays recorded attention through the policies that decide which tokens stay in a\n"
    "language model's key/value cache, and shows what each of them loses.\n";

constexpr std::string_view usage =
    "Usage:  kvcheck [--load LIBRARY...] COMMAND [WORDS...]\n"
    "        kvcheck COMMAND --help     what a command does, with examples\n"
    "        kvcheck --load LIBRARY     has policies of your own (examples/policy) for every "
    "command\n"
    "        kvcheck --version\n";

constexpr std::string_view examples =
    "Examples, in the order of a first visit:\n"
    "  kvcheck policies\n"
    "  kvcheck trace info traces/data/tinystories-2m.qkv.safetensors\n"
    "  kvcheck replay traces/data/tinystories-2m.qkv.safetensors --policy all --budget 64,128 \\\n"
    "      -o run.db\n"
    "  kvcheck report run.db -o report\n"
    "  kvcheck check reservoir:sinks=4,recent=28,budget=64\n";

constexpr std::string_view statuses =
    "Exit status: 0 done, or every law holds; 1 a law is broken; 2 usage or bad input, or the\n"
    "output could not be written; 3 internal error; 130 interrupted.\n";

std::string top_help() {
  std::size_t column = 0;
  for (const Command* command : commands()) column = std::max(column, command->name.size());
  std::string list = "Commands:\n";
  for (const Command* command : commands()) {
    std::string name(command->name);
    name.resize(column, ' ');
    list += "  " + name + "  " + std::string(command->summary) + "\n";
  }
  std::string out(about);
  for (const std::string_view part : {usage, std::string_view(list), examples, statuses}) {
    out.append("\n").append(part);
  }
  return out;
}

std::string help_of(const Command& command) {
  constexpr std::string_view placeholder = "{options}\n";
  std::string text(command.help);
  if (!text.empty() && text.back() != '\n') text += '\n';
  if (const std::size_t at = text.find(placeholder); at != std::string::npos) {
    text.replace(at, placeholder.size(), option_table(command.options));
  }
  return text;
}

// What reached standard output counts: a table that a full disk swallowed is no success.
int flushed(std::string_view who, int status, Streams& streams) {
  errno = 0;
  if (streams.out.rdbuf()->pubsync() == 0 && streams.out.good()) return status;
  const int code = errno;
  streams.err << who << ": cannot write to standard output";
  if (code != 0) streams.err << ": " << std::strerror(code);
  streams.err << '\n';
  return status == done ? bad_input : status;
}

int report_error(std::string_view who, const Error& error, Streams& streams) {
  streams.err << who << ": " << printable(error.message);
  if (error.kind == Error::Kind::usage) {
    streams.err << (error.message.ends_with('?') ? " See " : "; see ") << who << " --help";
  }
  streams.err << '\n';
  return interrupted() ? stopped : bad_input;
}

int run_guarded(const Command& command,
                std::string_view who,
                std::span<const std::string> words,
                Streams& streams) {
  try {
    const Result<Outcome> result = command.run(words, streams);
    if (!result) return report_error(who, result.error(), streams);
    return *result == Outcome::law_broken ? law_broken : done;
  } catch (const std::bad_alloc&) {
    streams.err << who << ": out of memory\n";
  } catch (const std::exception& exception) {
    streams.err << who << ": internal error: " << printable(exception.what()) << '\n';
  } catch (...) {
    streams.err << who << ": internal error: an exception of an unknown kind\n";
  }
  return internal;
}

// `who` is the command as it was called.
int run_named(const Command& command,
              std::string_view who,
              std::span<const std::string> words,
              Streams& streams) {
  if (asks_for_help(words)) {
    streams.out << help_of(command);
    return flushed(who, done, streams);
  }
  return flushed(who, run_guarded(command, who, words, streams), streams);
}

const Command* find_command(std::string_view name) {
  const auto found = std::ranges::find(commands(), name, &Command::name);
  return found == commands().end() ? nullptr : *found;
}

const Command* find_verb(const Command& command, std::string_view name) {
  const auto found = std::ranges::find(command.verbs, name, &Command::name);
  return found == command.verbs.end() ? nullptr : *found;
}

int unknown_command(std::string_view name, Streams& streams) {
  std::vector<std::string_view> names;
  for (const Command* command : commands()) names.push_back(command->name);
  return report_error("kvcheck", usage_error(unknown_word("command", name, names)), streams);
}

int run_help(std::span<const std::string> words, Streams& streams) {
  if (words.empty() || asks_for_help(words.first(1))) {
    streams.out << top_help();
    return done;
  }
  const Command* command = find_command(words[0]);
  const Command* const verb =
      command != nullptr && words.size() > 1 ? find_verb(*command, words[1]) : nullptr;
  if (verb != nullptr) command = verb;
  if (command == nullptr) return unknown_command(words[0], streams);
  // A command with verbs tells of those that are no commands of their own.
  const std::size_t used = command->verbs.empty() && verb == nullptr ? 1 : 2;
  if (words.size() > used) {
    return report_error("kvcheck", usage_error("unexpected word '" + words[used] + "' after help"),
                        streams);
  }
  streams.out << help_of(*command);
  return done;
}

int run_top(std::span<const std::string> words, Streams& streams) {
  // Without a command nothing was checked, which a script must not take for success.
  if (words.empty()) {
    streams.err << top_help();
    return bad_input;
  }
  const std::string& first = words[0];
  if (first == "help") return run_help(words.subspan(1), streams);
  if (first == "--help" || first == "-h") return run_help({}, streams);
  if (first == "--version") {
    streams.out << "kvcheck " << version << '\n';
    return done;
  }
  if (first.starts_with('-')) {
    constexpr std::array<std::string_view, 3> options = {"--help", "--version", "--load"};
    return report_error("kvcheck", usage_error(unknown_word("option", first, options)), streams);
  }
  return unknown_command(first, streams);
}

}  // namespace

std::span<const Command* const> commands() {
  static constexpr std::array all = {
      &replay_command,   &report_command, &check_command,    &uniformity_command,
      &eval_command,     &speed_command,  &generate_command, &record_command,
      &policies_command, &trace_command,  &protocol_command, &selftest_command,
  };
  return all;
}

int run_command(const Command& command, std::span<const std::string> words, Streams& streams) {
  forget_interrupt();
  const std::string who = "kvcheck " + std::string(command.name);
  const Command* const verb = words.empty() ? nullptr : find_verb(command, words[0]);
  if (verb != nullptr) return run_named(*verb, who + " " + words[0], words.subspan(1), streams);
  return run_named(command, who, words, streams);
}

bool asks_for_help(std::span<const std::string> words) {
  for (const std::string& word : words) {
    if (word == "--") return false;
    if (word == "--help" || word == "-h") return true;
  }
  return false;
}

int run_main(std::span<const std::string> words, Streams& streams) {
  if (const auto chosen = check_kernel_choice(); !chosen) {
    return report_error("kvcheck", chosen.error(), streams);
  }
  const Result<std::size_t> loaded = load_policies(words);
  if (!loaded) return report_error("kvcheck", loaded.error(), streams);
  words = words.subspan(*loaded);
  if (!words.empty()) {
    if (const Command* const command = find_command(words[0])) {
      return run_command(*command, words.subspan(1), streams);
    }
  }
  forget_interrupt();
  return flushed("kvcheck", run_top(words, streams), streams);
}

}  // namespace kv::cli
