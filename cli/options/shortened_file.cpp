#include "kvcheck/cli/options/shortened_file.h"

#include <unistd.h>

#include <csignal>
#include <string_view>

#include "kvcheck/base/file.h"

namespace kv::cli {
namespace {

void say(std::string_view text) {
  static_cast<void>(::write(STDERR_FILENO, text.data(), text.size()) + 0);
}

// Calls only what a signal handler may.
void on_bus_error(int signal, siginfo_t* info, void* /*context*/) {
  const char* const path = mapped_path_at(info->si_addr);
  if (path == nullptr) {
    std::signal(signal, SIG_DFL);  // the access is repeated, and ends the process
    return;
  }
  say("\nkvcheck: '");
  for (const char* at = path; *at != '\0'; ++at)
    say(*at >= ' ' && *at != 0x7f ? std::string_view(at, 1) : "?");
  say("' became shorter while it was read; expected it to remain as it was\n");
  ::_exit(2);
}

}  // namespace

void name_shortened_files() {
  struct sigaction action {};

  action.sa_sigaction = on_bus_error;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGBUS, &action, nullptr);
}

}  // namespace kv::cli
