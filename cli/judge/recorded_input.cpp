#include "kvcheck/cli/judge/recorded_input.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "kvcheck/cli/options/interrupt.h"

namespace kv::cli {
namespace {

// Whether the path names something that can be read once only.
bool is_stream(const std::string& path) {
  struct stat facts {};

  return ::stat(path.c_str(), &facts) == 0 &&
         (S_ISFIFO(facts.st_mode) || S_ISSOCK(facts.st_mode) || S_ISCHR(facts.st_mode));
}

Result<std::string> read_all(int descriptor, const std::string& name) {
  std::string text;
  std::array<char, 1U << 16U> part{};
  for (;;) {
    if (interrupted()) return io_error("interrupted while " + name + " was read");
    const ssize_t count = ::read(descriptor, part.data(), part.size());
    if (count == 0) return text;
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_error("read", name);
    text.append(part.data(), static_cast<std::size_t>(count));
  }
}

}  // namespace

Result<RecordedInput> RecordedInput::open(const std::string& path) {
  const bool standard = path == "-";
  RecordedInput input(standard ? "standard input" : path);
  if (!standard && !is_stream(path)) {
    auto file = MappedFile::open(path);
    if (!file) return file.error();
    input.file_ = *std::move(file);
    return input;
  }
  const int descriptor = standard ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return system_error("open", path);
  auto text = read_all(descriptor, input.name_);
  if (!standard) ::close(descriptor);
  if (!text) return text.error();
  input.read_ = *std::move(text);
  return input;
}

std::string_view RecordedInput::text() const {
  if (!file_) return read_;
  const auto bytes = file_->bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Result<void> RecordedInput::unchanged() const {
  return file_ ? file_->unchanged() : Result<void>();
}

}  // namespace kv::cli
