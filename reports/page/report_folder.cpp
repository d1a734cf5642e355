#include "kvcheck/reports/page/report_folder.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include "kvcheck/base/check.h"
#include "kvcheck/base/file.h"
#include "kvcheck/base/folder.h"

namespace kv::reports {
namespace {

namespace fs = std::filesystem;

bool begins_as_report(const std::string& index) {
  const auto file = MappedFile::open(index);
  if (!file) return false;
  const auto bytes = file.value().bytes();
  const std::string_view head(reinterpret_cast<const char*>(bytes.data()),
                              std::min<std::size_t>(bytes.size(), 512));
  return head.find(report_mark) != std::string_view::npos;
}

bool report_file(const fs::path& path) {
  constexpr std::array<std::string_view, 5> suffixes = {".svg", ".png", ".csv", ".md", ".jsonl"};
  return std::ranges::find(suffixes, path.extension().string()) != suffixes.end();
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

bool section_folder(std::string_view name) {
  constexpr std::array<std::string_view, 4> single = {"comparison", "texts", "laws", "logs"};
  if (std::ranges::find(single, name) != single.end()) return true;
  for (const std::string_view begin : {"trace-", "evaluation-", "timing-", "tasks-"}) {
    if (name.starts_with(begin)) return is_number(name.substr(begin.size()));
  }
  return false;
}

bool page_file(std::string_view name) {
  constexpr std::string_view begin = "explore-";
  constexpr std::string_view end = ".html";
  if (name == "index.html") return true;
  return name.starts_with(begin) && name.ends_with(end) &&
         is_number(name.substr(begin.size(), name.size() - begin.size() - end.size()));
}

// The first entry of the folder that no report has; an empty text if there is none.
Result<std::string> foreign_entry(const std::string& folder) {
  const auto entries = entries_of(folder);
  if (!entries) return entries.error();
  for (const FolderEntry& entry : *entries) {
    const bool known = entry.is_folder ? section_folder(entry.name) : page_file(entry.name);
    if (!known) return entry.name;
    if (!entry.is_folder) continue;
    const auto files = entries_of(folder + "/" + entry.name);
    if (!files) return files.error();
    const auto foreign = std::ranges::find_if(
        *files, [](const FolderEntry& file) { return file.is_folder || !report_file(file.name); });
    if (foreign != files->end()) return entry.name + "/" + foreign->name;
  }
  return std::string();
}

Result<void> check_target(const std::string& target) {
  std::error_code failure;
  const fs::file_status status = fs::status(target, failure);
  if (!fs::exists(status)) return {};
  if (!fs::is_directory(status)) {
    return io_error("cannot write a report to '" + target + "': it is a file; expected a folder");
  }
  if (fs::is_empty(target, failure)) return {};
  if (!begins_as_report(target + "/index.html")) {
    return io_error("cannot write a report to '" + target +
                    "': it is a folder with something else in it; name a new or empty one");
  }
  const auto foreign = foreign_entry(target);
  if (!foreign) return foreign.error();
  if (foreign->empty()) return {};
  return io_error("cannot replace the report in '" + target + "': it also holds '" + *foreign +
                  "', which no report has; move it away or name another folder");
}

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

// Removes what killed writers of this report left behind. A folder of less than a minute ago may be
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

ReportFolder::ReportFolder(std::string named, std::string target, std::string temporary, int lock)
    : named_(std::move(named)),
      target_(std::move(target)),
      temporary_(std::move(temporary)),
      lock_(lock) {}

ReportFolder::ReportFolder(ReportFolder&& other) noexcept
    : named_(std::move(other.named_)),
      target_(std::move(other.target_)),
      temporary_(std::exchange(other.temporary_, {})),
      lock_(std::exchange(other.lock_, -1)) {}

ReportFolder::~ReportFolder() {
  if (!temporary_.empty()) remove_folder(temporary_.c_str());
  if (lock_ >= 0) ::close(lock_);
}

Result<ReportFolder> ReportFolder::create(const std::string& target) {
  if (target.empty()) return usage_error("the report's folder has no name");
  if (const auto fits = check_target(target); !fits) return fits.error();
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
  return ReportFolder(target, *place, std::move(temporary), lock);
}

Result<std::string> ReportFolder::add_section(const std::string& name) const {
  KV_CHECK(section_folder(name));
  std::string folder = temporary_ + "/" + name;
  if (::mkdir(folder.c_str(), 0755) != 0) return system_error("create", folder);
  return folder;
}

Result<void> ReportFolder::commit() {
  if (::rename(temporary_.c_str(), target_.c_str()) == 0) {
    temporary_.clear();
    return {};
  }
  if (errno != ENOTEMPTY && errno != EEXIST) return system_error("write", target_);
  // The older report changes places with the new one, so that no reader finds the folder missing.
  // The destructor then removes the older one.
  if (::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, target_.c_str(), RENAME_EXCHANGE) == 0) {
    return {};
  }
  // Some file systems cannot exchange two names; then the older report is removed first.
  remove_folder(target_.c_str());
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) return system_error("write", target_);
  temporary_.clear();
  return {};
}

std::string ReportFolder::about_target(std::string text) const {
  for (std::size_t at = text.find(temporary_); !temporary_.empty() && at != std::string::npos;
       at = text.find(temporary_, at + named_.size())) {
    text.replace(at, temporary_.size(), named_);
  }
  return text;
}

}  // namespace kv::reports
