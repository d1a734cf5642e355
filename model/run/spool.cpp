#include "kvcheck/model/run/spool.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "kvcheck/base/file.h"
#include "kvcheck/model/run/number_sum.h"

namespace kv::model {

Result<Spool> Spool::create(const std::string& path) {
  std::string name = path + ".spool-XXXXXX";
  const int descriptor = ::mkstemp(name.data());
  if (descriptor < 0) return system_error("create", name);
  // Unlinked at once, so that the system frees the space however the program ends.
  ::unlink(name.c_str());
  return Spool(descriptor, path);
}

Result<Spool> Spool::open_named(const std::string& name) {
  const int descriptor = ::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0) return system_error("open", name);
  Spool spool(descriptor, name);
  spool.named_ = true;
  // The system gives the lock back when the program ends, however that comes about.
  if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) return spool;
  return Error{Error::Kind::busy, "another program uses '" + name + "'; expected it to be free"};
}

Spool::Spool(Spool&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      path_(std::move(other.path_)),
      named_(other.named_),
      counted_from_(other.counted_from_),
      sum_(other.sum_) {}

Spool::~Spool() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<void> Spool::put(std::uint64_t at, std::span<const float> values) {
  auto bytes = std::as_bytes(values);
  auto offset = static_cast<off_t>(at * sizeof(float));
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(descriptor_, bytes.data(), bytes.size(), offset);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return system_error("write the spool of", path_);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    offset += written;
  }
  if (at >= counted_from_) sum_ += sum_of_numbers(at - counted_from_, values);
  return {};
}

Result<void> Spool::get(std::uint64_t at, std::span<float> values) const {
  auto bytes = std::as_writable_bytes(values);
  auto offset = static_cast<off_t>(at * sizeof(float));
  while (!bytes.empty()) {
    const ssize_t read = ::pread(descriptor_, bytes.data(), bytes.size(), offset);
    if (read < 0 && errno == EINTR) continue;
    if (read < 0) return system_error("read the spool of", path_);
    // Past the end of what was written: what was never put reads as 0, as in a hole of the file.
    if (read == 0) break;
    bytes = bytes.subspan(static_cast<std::size_t>(read));
    offset += read;
  }
  std::ranges::fill(bytes, std::byte{0});
  return {};
}

Error Spool::damaged() const {
  if (!named_) {
    return io_error("the numbers that wait on the disk for '" + path_ +
                    "' are not those that were written there");
  }
  return malformed("'" + path_ +
                   "' was changed or damaged: its numbers are not those that were put there; "
                   "expected the file that the interrupted recording left, or none");
}

Result<void> Spool::sync() {
  if (::fdatasync(descriptor_) == 0) return {};
  return system_error("write the spool of", path_);
}

Result<void> Spool::clear() {
  if (::ftruncate(descriptor_, 0) == 0) return {};
  return system_error("empty the spool of", path_);
}

void Spool::remove() {
  if (named_) ::unlink(path_.c_str());
  named_ = false;
}

}  // namespace kv::model
