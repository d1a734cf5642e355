// The program: the list of commands, and run_main(), which runs one of them for main().
#pragma once

#include <span>
#include <string>

#include "kvcheck/cli/options/command.h"

namespace kv::cli {

// All commands, in the order of --help.
std::span<const Command* const> commands();

// Runs the command that the first word names, after the libraries that --load names before it.
// Exit status:
//   0    done, or every law holds
//   1    a law is broken
//   2    usage or bad input, or the output could not be written
//   3    internal
//   130  interrupted (SIGINT or SIGTERM) by a command that stopped in good order
int run_main(std::span<const std::string> arguments, Streams& streams);

}  // namespace kv::cli
