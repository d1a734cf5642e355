#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <new>
#include <ostream>
#include <string>
#include <vector>

#include "kvcheck/cli/commands.h"
#include "kvcheck/cli/options/output.h"
#include "kvcheck/cli/options/shortened_file.h"
#include "kvcheck/cli/options/terminal.h"
#include "kvcheck/model/tokenizer/icu_memory.h"

namespace {

// If the caller closed a standard stream, the next file that is opened would get its number, and
// our output would be written into that file. The number is filled with a read-only descriptor, so
// that writing still fails.
void reserve_standard_descriptors() {
  for (int descriptor = 0; descriptor <= STDERR_FILENO; ++descriptor) {
    if (::fcntl(descriptor, F_GETFD) < 0 && ::open("/dev/null", O_RDONLY) != descriptor) {
      ::_exit(3);
    }
  }
}

}  // namespace

int main(int count, char** arguments) {
  reserve_standard_descriptors();
  std::signal(SIGXFSZ, SIG_IGN);  // a file at its size limit is an error of the write
  std::signal(SIGPIPE, SIG_IGN);  // DescriptorBuffer handles a closed pipe
  kv::cli::name_shortened_files();
  kv::model::reserve_memory_for_icu();
  kv::cli::DescriptorBuffer out_buffer(STDOUT_FILENO);
  kv::cli::DescriptorBuffer err_buffer(STDERR_FILENO);
  std::ostream out(&out_buffer);
  std::ostream err(&err_buffer);
  err << std::unitbuf;
  kv::cli::Streams streams{out, err, ::isatty(STDERR_FILENO) == 1,
                           kv::cli::columns_of(STDOUT_FILENO), kv::cli::colours_on(STDOUT_FILENO)};
  try {
    return kv::cli::run_main(
        std::vector<std::string>(arguments + (count > 0 ? 1 : 0), arguments + count), streams);
  } catch (const std::bad_alloc&) {
    // A command reports this itself (command.cpp). It may also happen before and after.
    err << "kvcheck: out of memory\n";
    return kv::cli::exit_status::internal;
  }
}
