// The right to write one file, held by one process at a time.
#pragma once

#include <string>

#include "kvcheck/base/error.h"

namespace kv::reports {

// An advisory lock on a file, which is created empty if it does not exist. The kernel releases the
// lock when the process ends, however it ends.
class WriteLock {
 public:
  // Errors: held by another process (or by another lock of this one), a directory, not a regular
  // file, no permission.
  static Result<WriteLock> take(const std::string& path);

  WriteLock(WriteLock&& other) noexcept;
  WriteLock& operator=(WriteLock&&) = delete;
  WriteLock(const WriteLock&) = delete;
  WriteLock& operator=(const WriteLock&) = delete;
  ~WriteLock();

  // Whether the file had no bytes when the lock was taken.
  [[nodiscard]] bool empty() const { return empty_; }

  // Restores the file after an unsuccessful run: removes it if take() created it, and empties it if
  // it was empty.
  void abandon();

 private:
  WriteLock(std::string path, int descriptor);

  std::string path_;
  int descriptor_ = -1;
  bool created_ = false;
  bool empty_ = false;
};

}  // namespace kv::reports
