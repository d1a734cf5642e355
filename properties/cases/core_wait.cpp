#include "kvcheck/properties/cases/core_wait.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cctype>
#include <cstdlib>
#include <string>

#include "kvcheck/base/folder.h"

namespace kv::properties {
namespace {

// The file's first bytes, as a text. Empty if it cannot be read.
template <std::size_t most>
void read_start(const char* path, std::array<char, most>& text) {
  text.fill(0);
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  static_cast<void>(::read(file, text.data(), most - 1) + 0);
  ::close(file);
}

// Of a file such as /proc/self/schedstat, whose second number it is.
double waited_of(const char* path) {
  std::array<char, 96> text;
  read_start(path, text);
  const char* at = text.data();
  while (*at != '\0' && *at != ' ') ++at;
  double nanoseconds = 0;
  for (at += *at == ' ' ? 1 : 0; *at >= '0' && *at <= '9'; ++at) {
    nanoseconds = nanoseconds * 10 + (*at - '0');
  }
  return nanoseconds * 1e-9;
}

// The group of the process whose folder this is; -1 if there is none any more. Its name, which may
// contain anything, ends at the last bracket; its state, parent and group follow.
pid_t group_of(const std::string& folder) {
  std::array<char, 512> text;
  read_start((folder + "/stat").c_str(), text);
  const std::string stat = text.data();
  std::size_t at = stat.rfind(')');
  if (at == std::string::npos) return -1;
  for (int fields = 0; fields < 3 && at != std::string::npos; ++fields) at = stat.find(' ', at + 1);
  return at == std::string::npos ? -1 : static_cast<pid_t>(std::atol(stat.c_str() + at + 1));
}

}  // namespace

double waited_for_cores() {
  return waited_of("/proc/self/schedstat");
}

double group_waited_for_cores(pid_t group) {
  const auto entries = entries_of("/proc");
  if (!entries) return 0;
  double seconds = 0;
  for (const FolderEntry& entry : *entries) {
    if (!entry.is_folder || std::isdigit(static_cast<unsigned char>(entry.name[0])) == 0) continue;
    const std::string folder = "/proc/" + entry.name;
    if (group_of(folder) == group) seconds += waited_of((folder + "/schedstat").c_str());
  }
  return seconds;
}

}  // namespace kv::properties
