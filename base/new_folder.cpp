#include "kvcheck/base/new_folder.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <utility>

#include "kvcheck/base/file.h"
#include "kvcheck/base/folder.h"

namespace kv {
namespace {

namespace fs = std::filesystem;

// An absolute path without symbolic links or a slash at its end, so that it has a parent.
Result<std::string> resolved(const std::string& target) {
  std::error_code failure;
  fs::path path = fs::weakly_canonical(fs::absolute(target, failure), failure);
  if (failure) return io_error("cannot write '" + target + "': " + failure.message());
  if (path.filename().empty()) path = path.parent_path();
  return path.string();
}

// Takes the lock of a folder that is being written, which the kernel releases when its writer ends
// for any reason. Negative if another process has it or the folder cannot be opened.
int lock_folder(const std::string& path) {
  const int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  if (folder < 0) return -1;
  if (::flock(folder, LOCK_EX | LOCK_NB) == 0) return folder;
  ::close(folder);
  return -1;
}

// Removes what killed writers of this target left behind. A folder of less than a minute ago may be
// one that is not locked yet.
void remove_stale(const fs::path& parent, const std::string& prefix) {
  const auto entries = entries_of(parent.string());
  if (!entries) return;
  for (const FolderEntry& entry : *entries) {
    if (!entry.name.starts_with(prefix) || entry.name.size() != prefix.size() + 6) continue;
    const std::string path = (parent / entry.name).string();
    std::error_code failure;
    const auto age = fs::file_time_type::clock::now() - fs::last_write_time(path, failure);
    if (failure || age < std::chrono::minutes(1)) continue;
    const int folder = lock_folder(path);
    if (folder < 0) continue;
    remove_folder(path.c_str());
    ::close(folder);
  }
}

}  // namespace

NewFolder::NewFolder(std::string named, std::string target, std::string temporary, int lock)
    : named_(std::move(named)),
      target_(std::move(target)),
      temporary_(std::move(temporary)),
      lock_(lock) {}

NewFolder::NewFolder(NewFolder&& other) noexcept
    : named_(std::move(other.named_)),
      target_(std::move(other.target_)),
      temporary_(std::exchange(other.temporary_, {})),
      lock_(std::exchange(other.lock_, -1)) {}

NewFolder::~NewFolder() {
  if (!temporary_.empty()) remove_folder(temporary_.c_str());
  if (lock_ >= 0) ::close(lock_);
}

Result<NewFolder> NewFolder::create(const std::string& target) {
  if (target.empty()) return usage_error("the folder to write has no name");
  const auto place = resolved(target);
  if (!place) return place.error();
  const fs::path path(*place);
  std::error_code failure;
  fs::create_directories(path.parent_path(), failure);
  if (failure) return io_error("cannot create '" + target + "': " + failure.message());
  const std::string prefix = "." + path.filename().string() + ".partial-";
  remove_stale(path.parent_path(), prefix);
  std::string temporary = (path.parent_path() / (prefix + "XXXXXX")).string();
  if (::mkdtemp(temporary.data()) == nullptr) return system_error("create", target);
  ::chmod(temporary.c_str(), 0755);
  const int lock = lock_folder(temporary);
  return NewFolder(target, *place, std::move(temporary), lock);
}

Result<void> NewFolder::commit() {
  if (::rename(temporary_.c_str(), target_.c_str()) == 0) {
    temporary_.clear();
    return {};
  }
  Error failed = system_error("write", named_);
  // A name that the next writer does not take for what a killed one left.
  std::string kept = target_ + ".whole-XXXXXX";
  kept.replace(kept.size() - 6, 6, temporary_, temporary_.size() - 6, 6);
  if (::rename(temporary_.c_str(), kept.c_str()) != 0) return failed;
  temporary_.clear();
  failed.message += "; what was finished is in '" + kept + "'";
  return failed;
}

Result<void> NewFolder::replace() {
  if (::rename(temporary_.c_str(), target_.c_str()) == 0) {
    temporary_.clear();
    return {};
  }
  if (errno != ENOTEMPTY && errno != EEXIST) return system_error("write", target_);
  // The older folder changes places with the new one, so that no reader finds it missing. The
  // destructor then removes the older one.
  if (::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, target_.c_str(), RENAME_EXCHANGE) == 0) {
    return {};
  }
  // Some file systems cannot exchange two names; then the older folder is removed first.
  remove_folder(target_.c_str());
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) return system_error("write", target_);
  temporary_.clear();
  return {};
}

std::string NewFolder::about_target(std::string text) const {
  for (std::size_t at = text.find(temporary_); !temporary_.empty() && at != std::string::npos;
       at = text.find(temporary_, at + named_.size())) {
    text.replace(at, temporary_.size(), named_);
  }
  return text;
}

}  // namespace kv
