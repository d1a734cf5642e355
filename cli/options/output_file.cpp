#include "kvcheck/cli/options/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <ostream>

#include "kvcheck/base/file.h"

namespace kv::cli {
namespace {

// Whether bytes can only be passed on there. Such a file has no content that a crash could leave
// half written, so it needs no atomic replacement. Block devices are not among them: a disk named
// by mistake must not be overwritten.
bool passes_on(const std::string& path) {
  struct stat status {};

  if (::stat(path.c_str(), &status) != 0) return false;
  return S_ISFIFO(status.st_mode) || S_ISCHR(status.st_mode);
}

}  // namespace

Result<void> check_output(const std::string& path) {
  if (passes_on(path)) {
    if (::access(path.c_str(), W_OK) == 0) return {};
    return system_error("write", path);
  }
  if (const Result<AtomicFile> file = AtomicFile::create(path); !file) return file.error();
  return {};
}

Result<void> write_output(const std::string& path, std::string_view text) {
  if (!passes_on(path)) return write_file(path, text);
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
  if (descriptor < 0) return system_error("write", path);
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EPIPE) {
      break;
    } else if (errno != EINTR) {
      Error failure = system_error("write", path);  // built before close(), which may change errno
      ::close(descriptor);
      return failure;
    }
  }
  ::close(descriptor);
  return {};
}

Result<void> write_texts(std::initializer_list<NamedText> texts, std::ostream& out) {
  for (const NamedText& one : texts) {
    if (one.path == "-") {
      out << one.text;
    } else if (!one.path.empty()) {
      if (auto done = write_output(one.path, one.text); !done) return done;
    }
  }
  return {};
}

}  // namespace kv::cli
