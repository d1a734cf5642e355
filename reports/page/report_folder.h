// A folder that appears whole or not at all.
#pragma once

#include <string>

#include "kvcheck/base/error.h"

namespace kv::reports {

// A text near the beginning of every report's index.html, by which an older report is recognised.
inline constexpr const char* report_mark = "<meta name=\"generator\" content=\"kvcheck ";

// A new folder beside the target. commit() moves it to the target; without commit() the destructor
// removes it. What a killed process left is removed by the next report to the same target: a folder
// whose writer lives is locked.
class ReportFolder {
 public:
  // Errors: the target is a file, a folder that contains anything but a report, or its parent
  // cannot be written.
  static Result<ReportFolder> create(const std::string& target);

  ReportFolder(const ReportFolder&) = delete;
  ReportFolder& operator=(const ReportFolder&) = delete;
  ReportFolder(ReportFolder&& other) noexcept;
  ReportFolder& operator=(ReportFolder&&) = delete;
  ~ReportFolder();

  // The folder to write to before commit().
  [[nodiscard]] const std::string& path() const { return temporary_; }

  // Makes the folder of a section and gives its path. Requires a name that sections have, so that a
  // later report to the same target knows it for a report's.
  [[nodiscard]] Result<std::string> add_section(const std::string& name) const;

  Result<void> commit();

  // The text with every path() replaced by the target as the user named it, for messages.
  [[nodiscard]] std::string about_target(std::string text) const;

 private:
  ReportFolder(std::string named, std::string target, std::string temporary, int lock);

  std::string named_;   // as create() got it
  std::string target_;  // the same, absolute
  std::string temporary_;
  int lock_ = -1;  // the open folder, whose lock says that its writer lives
};

}  // namespace kv::reports
