#include "kvcheck/cli/commands.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <ostream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "kvcheck/base/file.h"
#include "kvcheck/base/kernels/kernel_choice.h"
#include "kvcheck/base/kernels/kernels.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/base/version.h"
#include "kvcheck/cli/check/check.h"
#include "kvcheck/cli/check/protocol.h"
#include "kvcheck/cli/evaluate/eval.h"
#include "kvcheck/cli/evaluate/generate.h"
#include "kvcheck/cli/evaluate/record.h"
#include "kvcheck/cli/evaluate/speed.h"
#include "kvcheck/cli/evidence/selftest.h"
#include "kvcheck/cli/evidence/uniformity.h"
#include "kvcheck/cli/judge/judge.h"
#include "kvcheck/cli/options/interrupt.h"
#include "kvcheck/cli/options/load.h"
#include "kvcheck/cli/options/terminal.h"
#include "kvcheck/cli/policies/policies.h"
#include "kvcheck/cli/replay/replay.h"
#include "kvcheck/cli/report/compare.h"
#include "kvcheck/cli/report/explore.h"
#include "kvcheck/cli/report/hypotheses.h"
#include "kvcheck/cli/report/plot.h"
#include "kvcheck/cli/report/report.h"
#include "kvcheck/cli/shell/complete.h"
#include "kvcheck/cli/shell/completion_scripts.h"
#include "kvcheck/cli/shell/manual.h"
#include "kvcheck/cli/sweep/merge_command.h"
#include "kvcheck/cli/sweep/sweep_command.h"
#include "kvcheck/cli/tasks/tasks.h"
#include "kvcheck/cli/trace/trace.h"

namespace kv::cli {
namespace {

constexpr std::string_view about =
    "kvcheck replays recorded attention through the policies that decide which tokens are kept in\n"
    "a language model's key/value cache, and shows what each of them loses.\n";

constexpr std::string_view usage =
    "Usage:  kvcheck [--load LIBRARY...] COMMAND [ARGUMENTS...]\n"
    "        kvcheck COMMAND --help     shows what a command does, with examples\n"
    "        kvcheck --load LIBRARY     adds policies of your own (examples/policy)\n"
    "        kvcheck completion SHELL   prints a script by which bash, zsh or fish completes "
    "words\n"
    "        kvcheck man [COMMAND]      prints a manual page; with -o DIR, writes all of them\n"
    "        kvcheck --version\n";

constexpr std::string_view examples =
    "Examples, in the order of a first visit:\n"
    "  kvcheck policies\n"
    "  kvcheck trace info traces/data/tinystories-2m.qkv.safetensors\n"
    "  kvcheck replay traces/data/tinystories-2m.qkv.safetensors --policy all --budget 64,128 \\\n"
    "      -o run.db\n"
    "  kvcheck report run.db -o report\n"
    "  kvcheck check reservoir:sinks=4,recent=28,budget=64\n";

constexpr std::string_view environment =
    "Environment: KV_KERNEL=avx512, avx2, sse4, neon or scalar runs the kernels of that name, if\n"
    "the machine can, in place of those that kvcheck selects. Results are the same; only times\n"
    "differ. kvcheck --version names those that run here.\n";

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
  for (const std::string_view part :
       {usage, std::string_view(list), examples, environment, statuses}) {
    out.append("\n").append(part);
  }
  return out;
}

const Command* find_command(std::string_view name) {
  const auto found = std::ranges::find(commands(), name, &Command::name);
  return found == commands().end() ? nullptr : *found;
}

int unknown_command(std::string_view name, Streams& streams) {
  std::vector<std::string_view> names;
  for (const Command* command : commands()) names.push_back(command->name);
  return report_error("kvcheck", usage_error(unknown_word("command", name, names)), streams);
}

int run_help(std::span<const std::string> arguments, Streams& streams) {
  if (arguments.empty() || asks_for_help(arguments.first(1))) {
    streams.out << folded(top_help(), streams.columns);
    return exit_status::done;
  }
  const Command* command = find_command(arguments[0]);
  const Command* const verb =
      command != nullptr && arguments.size() > 1 ? find_verb(*command, arguments[1]) : nullptr;
  if (verb != nullptr) command = verb;
  if (command == nullptr) return unknown_command(arguments[0], streams);
  // A verb that is not a command of its own may follow; the help of its command describes it.
  const std::size_t used = command->verbs.empty() && verb == nullptr ? 1 : 2;
  if (arguments.size() > used) {
    return report_error("kvcheck",
                        usage_error("unexpected argument '" + arguments[used] + "' after help"),
                        streams);
  }
  streams.out << folded(help_of(*command), streams.columns);
  return exit_status::done;
}

Result<void> run_completion(std::span<const std::string> arguments, Streams& streams) {
  if (arguments.size() != 1) return usage_error("expected a shell: bash, zsh or fish");
  const auto script = completion_script(arguments[0]);
  if (!script) return script.error();
  streams.out << *script;
  return {};
}

// For the scripts of completion_script(): one word a line.
Result<void> run_complete(std::span<const std::string> arguments, Streams& streams) {
  if (!arguments.empty() && arguments[0] == "--") arguments = arguments.subspan(1);
  for (const std::string& word : completions(commands(), arguments)) streams.out << word << '\n';
  return {};
}

constexpr std::string_view completion_help =
    "Prints a script by which a shell completes the words of kvcheck.\n"
    "\n"
    "Usage:  kvcheck completion bash|zsh|fish\n"
    "\n"
    "Examples, each for the shell that is running:\n"
    "  eval \"$(kvcheck completion bash)\"\n"
    "  eval \"$(kvcheck completion zsh)\"\n"
    "  kvcheck completion fish | source\n";

constexpr std::string_view man_help =
    "Prints a manual page, or writes all of them.\n"
    "\n"
    "Usage:  kvcheck man [COMMAND [VERB]]\n"
    "        kvcheck man -o DIR\n"
    "\n"
    "Examples:\n"
    "  kvcheck man replay | man -l -\n"
    "  kvcheck man -o ~/.local/share/man/man1\n";

Result<void> run_man(std::span<const std::string> arguments, Streams& streams);

struct OwnVerb {
  std::string_view name;
  Result<void> (*run)(std::span<const std::string> arguments, Streams& streams);
  std::string_view help{};  // empty: called by scripts only
};

constexpr std::array<OwnVerb, 3> own_verbs = {{{"completion", run_completion, completion_help},
                                               {"complete", run_complete},
                                               {"man", run_man, man_help}}};

// Every page by its name without the section, such as "kvcheck" and "kvcheck-trace-generate".
std::vector<std::pair<std::string, std::string>> manual_pages() {
  std::vector<std::pair<std::string, std::string>> pages;
  pages.emplace_back("kvcheck", program_page(top_help(), commands()));
  for (const Command* const command : commands()) {
    const std::string name(command->name);
    pages.emplace_back("kvcheck-" + name, command_page(name, *command));
    for (const Command* const verb : command->verbs) {
      const std::string whole = name + "-" + std::string(verb->name);
      pages.emplace_back("kvcheck-" + whole, command_page(whole, *verb));
    }
  }
  for (const OwnVerb& verb : own_verbs) {
    if (verb.help.empty()) continue;
    pages.emplace_back("kvcheck-" + std::string(verb.name), small_page(verb.name, verb.help));
  }
  return pages;
}

// The name of the page that describes these words: "kvcheck-trace" for `trace convert`, a verb that
// is described in the page of its command.
std::string page_of(std::span<const std::string> words) {
  if (words.size() == 2) {
    const Command* const command = find_command(words[0]);
    const std::string described = "kvcheck " + words[0] + " " + words[1] + " ";
    if (command != nullptr && find_verb(*command, words[1]) == nullptr &&
        command->help.find(described) != std::string_view::npos) {
      return "kvcheck-" + words[0];
    }
  }
  std::string name = "kvcheck";
  for (const std::string& word : words) name += "-" + word;
  return name;
}

Result<void> run_man(std::span<const std::string> arguments, Streams& streams) {
  if (arguments.size() == 2 && arguments[0] == "-o") {
    std::error_code ignored;  // write_file() says why a folder is none
    std::filesystem::create_directories(arguments[1], ignored);
    for (const auto& [name, page] : manual_pages()) {
      if (auto done = write_file(arguments[1] + "/" + name + ".1", page); !done) return done;
    }
    return {};
  }
  const std::string requested = page_of(arguments);
  std::vector<std::string> names;
  for (const auto& [name, page] : manual_pages()) {
    if (name == requested) {
      streams.out << page;
      return {};
    }
    names.push_back(name);
  }
  const std::vector<std::string_view> known(names.begin(), names.end());
  return usage_error(unknown_word("manual page", requested, known));
}

int run_top(std::span<const std::string> arguments, Streams& streams) {
  // Without a command nothing was done, which a script must not take for success.
  if (arguments.empty()) {
    streams.err << top_help();
    return exit_status::bad_input;
  }
  const std::string& first = arguments[0];
  if (first == "help") return run_help(arguments.subspan(1), streams);
  if (first == "--help" || first == "-h") return run_help({}, streams);
  const auto* const own = std::ranges::find(own_verbs, first, &OwnVerb::name);
  if (own != own_verbs.end()) {
    if (!own->help.empty() && asks_for_help(arguments.subspan(1))) {
      streams.out << folded(own->help, streams.columns);
      return exit_status::done;
    }
    const auto done = own->run(arguments.subspan(1), streams);
    return done ? exit_status::done : report_error("kvcheck " + first, done.error(), streams);
  }
  if (first == "--version" || first == "-V" || first == "version") {
    streams.out << "kvcheck " << version << "\nkernels: " << selected_kernels() << '\n';
    return exit_status::done;
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
      &replay_command,     &report_command,     &explore_command,  &plot_command,
      &compare_command,    &hypotheses_command, &check_command,    &judge_command,
      &uniformity_command, &eval_command,       &speed_command,    &tasks_command,
      &generate_command,   &record_command,     &sweep_command,    &merge_command,
      &policies_command,   &trace_command,      &protocol_command, &selftest_command,
  };
  return all;
}

int run_main(std::span<const std::string> arguments, Streams& streams) {
  if (const auto selected = check_kernel_choice(); !selected) {
    return report_error("kvcheck", selected.error(), streams);
  }
  const Result<std::size_t> loaded = load_policies(arguments);
  if (!loaded) return report_error("kvcheck", loaded.error(), streams);
  arguments = arguments.subspan(*loaded);
  if (!arguments.empty()) {
    if (const Command* const command = find_command(arguments[0])) {
      return run_command(*command, arguments.subspan(1), streams);
    }
  }
  forget_interrupt();
  return flushed("kvcheck", run_top(arguments, streams), streams);
}

}  // namespace kv::cli
