// The folder of a report.
#pragma once

#include <string>

#include "kvcheck/base/error.h"
#include "kvcheck/base/new_folder.h"

namespace kv::reports {

// A text near the beginning of every report's index.html, by which an older report is recognised.
inline constexpr const char* report_mark = "<meta name=\"generator\" content=\"kvcheck ";

// A new folder that replaces the report in the target, if there is one. Errors: the target is a
// file, or a folder that contains anything but a report, or its parent cannot be written.
Result<NewFolder> new_report_folder(const std::string& target);

// Makes the folder of a section and gives its path. Requires a name that sections have, so that a
// later report to the same target knows it for a report's.
Result<std::string> add_section(const NewFolder& report, const std::string& name);

}  // namespace kv::reports
