#include "kvcheck/reports/page/report_folder.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

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

}  // namespace

Result<NewFolder> new_report_folder(const std::string& target) {
  if (const auto fits = check_target(target); !fits) return fits.error();
  return NewFolder::create(target);
}

Result<std::string> add_section(const NewFolder& report, const std::string& name) {
  KV_CHECK(section_folder(name));
  std::string folder = report.path() + "/" + name;
  if (::mkdir(folder.c_str(), 0755) != 0) return system_error("create", folder);
  return folder;
}

}  // namespace kv::reports
