#include "kvcheck/python/bindings/program.h"

#include <unistd.h>

#include <ostream>

#include "kvcheck/base/text/text_stream.h"
#include "kvcheck/cli/commands.h"
#include "kvcheck/cli/options/command.h"
#include "kvcheck/cli/options/interrupt.h"
#include "kvcheck/cli/options/output.h"
#include "kvcheck/cli/options/terminal.h"
#include "kvcheck/python/bindings/forks.h"
#include "kvcheck/python/bindings/interrupt.h"

namespace kv::python {

std::vector<OptionHelp> options_of(const std::string& command) {
  std::vector<OptionHelp> options;
  for (const cli::Command* one : cli::commands()) {
    if (one->name != command) continue;
    for (const cli::Option& option : one->options) {
      options.push_back({.name = std::string(option.name),
                         .value = std::string(option.value),
                         .help = std::string(option.help),
                         .default_value = std::string(option.default_value),
                         .list = option.list});
    }
  }
  return options;
}

Printed run_program(const std::vector<std::string>& arguments) {
  TextStream out;
  TextStream err;
  cli::Streams streams{.out = out, .err = err};
  const ForksWithLock forks;
  cli::forget_interrupt();
  take_interrupt();
  const int status = cli::run_main(arguments, streams);
  take_interrupt();  // its status says so
  return {.status = status, .out = out.str(), .err = err.str()};
}

int run_on_terminal(const std::vector<std::string>& arguments) {
  cli::DescriptorBuffer out_buffer(STDOUT_FILENO);
  cli::DescriptorBuffer err_buffer(STDERR_FILENO);
  std::ostream out(&out_buffer);
  std::ostream err(&err_buffer);
  err << std::unitbuf;
  cli::Streams streams{out, err, ::isatty(STDERR_FILENO) == 1, cli::columns_of(STDOUT_FILENO),
                       cli::colours_on(STDOUT_FILENO)};
  const ForksWithLock forks;
  return cli::run_main(arguments, streams);
}

}  // namespace kv::python
