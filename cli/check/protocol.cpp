#include "kvcheck/cli/check/protocol.h"

#include <array>
#include <ostream>

#include "kvcheck/base/text/printable.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/properties/remote/validate.h"

namespace kv::cli {
namespace {

constexpr std::array<Option, 2> table = {{
    {.name = "requests", .help = "show the request beside each line"},
    {.name = "help", .letter = 'h', .help = "this text"},
}};

constexpr std::string_view help =
    "Tests whether a program follows the line protocol.\n"
    "\n"
    "Usage:  kvcheck protocol COMMAND\n"
    "\n"
    "COMMAND starts the program. It is one argument for the shell, so quote it. The protocol is\n"
    "specified in properties/PROTOCOL.md.\n"
    "\n"
    "This command tries no laws. It says hello to the program, asks for contracts, and runs cases\n"
    "with every kind of call. It checks every field of every answer, and it rejects fields that\n"
    "the protocol does not know.\n"
    "\n"
    "{options}\n"
    "\n"
    "Exit status: 0 every answer is right; 1 some are not; 2 usage, or the program cannot start.\n"
    "\n"
    "Examples:\n"
    "  kvcheck protocol 'python3 my_cache.py'\n"
    "  kvcheck protocol --requests ./my_cache\n";

Result<Outcome> run(std::span<const std::string> given, Streams& streams) {
  const auto arguments = Arguments::parse(table, given);
  if (!arguments) return arguments.error();
  if (auto one = arguments->expect_operands("command", 1, 1); !one) return one.error();
  const auto validation = properties::validate_process(arguments->operands()[0]);
  if (!validation) return validation.error();
  std::size_t wrong = 0;
  for (const properties::Validation::Step& step : validation->steps) {
    wrong += step.wrong.empty() ? 0U : 1U;
    streams.out << (step.wrong.empty() ? "right  " : "WRONG  ") << step.asked << "\n";
    if (arguments->given("requests")) streams.out << "       " << step.request << "\n";
    if (step.wrong.empty()) continue;
    // What the program sent must not control the terminal.
    const std::string said = printable(step.wrong);
    for (const std::string_view line : split(said, '\n')) {
      streams.out << "       " << line << "\n";
    }
  }
  streams.out << validation->steps.size() << " answers, " << wrong << " of them wrong\n";
  return validation->passed() ? Outcome::done : Outcome::law_broken;
}

}  // namespace

constinit const Command protocol_command = {
    .name = "protocol",
    .summary = "test whether a program follows the line protocol",
    .help = help,
    .run = run,
    .options = table,
};

}  // namespace kv::cli
