#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <csignal>
#include <ostream>
#include <string>
#include <vector>

#include "kvcheck/cli/commands.h"
#include "kvcheck/cli/options/output.h"

namespace {

// A standard stream that the caller closed would lend its number to the next file that is opened,
// and our words would land in that file. Opened read-only, so that writing still fails.
void reserve_standard_descriptors() {
  for (int descriptor = 0; descriptor <= STDERR_FILENO; ++descriptor) {
    if (::fcntl(descriptor, F_GETFD) < 0 && ::open("/dev/null", O_RDONLY) != descriptor) {
      ::_exit(3);
    }
  }
}

// The width of the terminal; 0 if it is none.
std::size_t columns_of(int descriptor) {
  winsize size{};
  return ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

}  // namespace

int main(int count, char** arguments) {
  reserve_standard_descriptors();
  std::signal(SIGXFSZ, SIG_IGN);  // a file at its size limit is an error of the write
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is DescriptorBuffer's to answer
  kv::cli::DescriptorBuffer out_buffer(STDOUT_FILENO);
  kv::cli::DescriptorBuffer err_buffer(STDERR_FILENO);
  std::ostream out(&out_buffer);
  std::ostream err(&err_buffer);
  err << std::unitbuf;
  kv::cli::Streams streams{out, err, ::isatty(STDERR_FILENO) == 1, columns_of(STDOUT_FILENO)};
  return kv::cli::run_main(
      std::vector<std::string>(arguments + (count > 0 ? 1 : 0), arguments + count), streams);
}
