// A folder that appears whole or not at all.
#pragma once

#include <string>

#include "kvcheck/base/error.h"

namespace kv::reports {

// What every report's index.html has near its beginning, by which an older report is known.
inline constexpr const char* report_mark = "<meta name=\"generator\" content=\"kvcheck ";

// A new folder beside the target; commit() moves it into the target's place. Without commit()
// nothing is left behind.
class ReportFolder {
 public:
  // Errors: the target is a file, a folder with anything in it that is not a report's, or its
  // parent cannot be written.
  static Result<ReportFolder> create(const std::string& target);

  ReportFolder(const ReportFolder&) = delete;
  ReportFolder& operator=(const ReportFolder&) = delete;
  ReportFolder(ReportFolder&& other) noexcept;
  ReportFolder& operator=(ReportFolder&&) = delete;
  ~ReportFolder();

  // Where to write for now.
  [[nodiscard]] const std::string& path() const { return temporary_; }

  Result<void> commit();

  // The text with the target, as it was named, in the place of path(): what a reader should see.
  [[nodiscard]] std::string about_target(std::string text) const;

 private:
  ReportFolder(std::string named, std::string target, std::string temporary);

  std::string named_;   // as create() got it
  std::string target_;  // the same, absolute
  std::string temporary_;
};

}  // namespace kv::reports
