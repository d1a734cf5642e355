#include "kvcheck/reports/store/write_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "kvcheck/base/file.h"

namespace kv::reports {

WriteLock::WriteLock(std::string path, int descriptor)
    : path_(std::move(path)), descriptor_(descriptor) {}

WriteLock::WriteLock(WriteLock&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      created_(other.created_),
      empty_(other.empty_) {}

WriteLock::~WriteLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void WriteLock::abandon() {
  // SQLite leaves its journal if it could not undo what it had begun. Without rows to restore, the
  // journal is of no use.
  if (created_ || empty_) ::unlink((path_ + "-journal").c_str());
  if (created_) {
    ::unlink(path_.c_str());
  } else if (empty_) {
    // A failure is ignored: it leaves an empty run in the file, which readers can handle.
    static_cast<void>(::ftruncate(descriptor_, 0) == 0);
  }
}

Result<WriteLock> WriteLock::take(const std::string& path) {
  // Non-blocking, so that a named pipe is refused below instead of waited for.
  constexpr int flags = O_RDWR | O_CLOEXEC | O_NONBLOCK;
  int descriptor = ::open(path.c_str(), flags);
  const bool absent = descriptor < 0 && errno == ENOENT;
  if (absent) descriptor = ::open(path.c_str(), flags | O_CREAT, 0666);
  if (descriptor < 0) {
    if (errno == EISDIR) return io_error("cannot write '" + path + "': it is a directory");
    return system_error("write", path);
  }
  WriteLock lock(path, descriptor);
  // Two processes may both find the file absent; the lock below decides which of them writes.
  lock.created_ = absent;

  struct stat status {};

  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    return io_error("cannot write '" + path + "': it is not a regular file");
  }
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return system_error("lock", path);
    return Error{Error::Kind::busy,
                 "'" + path +
                     "' is being written by another run, of this process or of another; wait for "
                     "it to end, or write to another file"};
  }
  lock.empty_ = status.st_size == 0;
  return lock;
}

}  // namespace kv::reports
