#include "kvcheck/tests/tidy/page_rules.h"

#include <algorithm>

#include "kvcheck/base/text/text.h"

namespace kv::tidy {
namespace {

std::string_view name_of(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

// Headers, and sources that have none.
bool is_entrance(const SourceFile& file, const std::vector<SourceFile>& files) {
  if (file.path.ends_with(".h")) return true;
  if (!file.path.ends_with(".cpp")) return false;
  return find(files, file.path.substr(0, file.path.size() - 4) + ".h") == nullptr;
}

// The back-quoted names before the colon of each entry of a page's lists.
std::set<std::string_view> entries_of(const SourceFile& page) {
  std::set<std::string_view> names;
  for (std::string_view line : lines_of(page.text)) {
    if (!line.starts_with("- ") && !line.starts_with("* ")) continue;
    line = line.substr(0, line.find(':'));
    const std::vector<std::string_view> parts = split(line, '`');
    for (std::size_t i = 1; i < parts.size(); i += 2) names.insert(parts[i]);
  }
  return names;
}

void check_entries(const SourceFile& page,
                   const std::vector<SourceFile>& files,
                   Findings& findings) {
  std::set<std::string_view> stems;
  const std::set<std::string_view> entries = entries_of(page);
  for (const SourceFile& file : files) {
    if (room_of(file.path) != room_of(page.path)) continue;
    const std::string_view name = name_of(file.path);
    const std::string_view stem = name.substr(0, name.find('.'));
    stems.insert(stem);
    if (!is_entrance(file, files) || entries.contains(stem)) continue;
    findings.push_back(page.path + ": does not list " + std::string(name));
  }
  for (const std::string_view entry : entries) {
    if (stems.contains(entry)) continue;
    findings.push_back(page.path + ": there is no '" + std::string(entry) + "'");
  }
}

// The rows of the first table after `heading`, without its head.
std::vector<std::string_view> rows_after(const SourceFile& file, std::string_view heading) {
  std::vector<std::string_view> rows;
  bool here = false;
  for (const std::string_view line : lines_of(file.text)) {
    if (line == heading) here = true;
    if (here && line.starts_with("|")) rows.push_back(line);
    if (here && !line.starts_with("|") && !rows.empty()) break;
  }
  rows.erase(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(std::min(rows.size(), 2UL)));
  return rows;
}

std::string folder_path(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return std::string(path.substr(0, slash == std::string_view::npos ? 0 : slash + 1));
}

// "a/b/../c" as "a/c".
std::string resolved(const std::string& path) {
  std::vector<std::string> parts;
  for (const std::string_view part : split(path, '/')) {
    if (part == ".." && !parts.empty()) {
      parts.pop_back();
    } else if (part != "." && !part.empty()) {
      parts.emplace_back(part);
    }
  }
  return join(parts, "/");
}

std::string at(const SourceFile& file, std::size_t index) {
  return file.path + ":" + std::to_string(index + 1) + ": ";
}

void check_links(const SourceFile& file,
                 std::size_t index,
                 std::string_view line,
                 const std::set<std::string>& paths,
                 Findings& findings) {
  for (std::size_t at_ = line.find("]("); at_ != std::string_view::npos;
       at_ = line.find("](", at_ + 1)) {
    const std::size_t end = std::min(line.find(')', at_), line.size());
    std::string target(line.substr(at_ + 2, end - at_ - 2));
    target = target.substr(0, target.find('#'));
    if (target.empty() || target.find(':') != std::string::npos) continue;
    if (!paths.contains(resolved(folder_path(file.path) + target))) {
      findings.push_back(at(file, index) + "the link's file '" + target + "' is not there");
    }
  }
}

}  // namespace

Findings room_pages(const Rooms& rooms, const std::vector<SourceFile>& files) {
  Findings findings;
  for (const auto& [room, uses] : rooms) {
    const SourceFile* const page = find(files, room + "/README.md");
    if (page == nullptr) {
      findings.push_back(room + ": there is no README.md");
      continue;
    }
    const std::size_t lines = lines_of(page->text).size();
    if (lines > most_readme_lines) {
      findings.push_back(page->path + ": " + std::to_string(lines) + " lines; at most " +
                         std::to_string(most_readme_lines));
    }
    check_entries(*page, files, findings);
  }
  return findings;
}

Findings dead_links(const SourceFile& file, const std::set<std::string>& paths) {
  Findings findings;
  if (!file.path.ends_with(".md")) return findings;
  bool in_code = false;
  const std::vector<std::string_view> lines = lines_of(file.text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].starts_with("```")) in_code = !in_code;
    if (!in_code) check_links(file, i, lines[i], paths, findings);
  }
  return findings;
}

Findings where_to_find(const SourceFile& architecture) {
  const std::vector<std::string_view> rows = rows_after(architecture, "## Where to find");
  Findings findings;
  if (rows.size() < fewest_answers) {
    findings.push_back(architecture.path + ": \"Where to find\" answers " +
                       std::to_string(rows.size()) + " questions; at least " +
                       std::to_string(fewest_answers));
  }
  for (const std::string_view row : rows) {
    if (row.find("](") != std::string_view::npos) continue;
    findings.push_back(architecture.path + ": no link in '" + std::string(row) + "'");
  }
  return findings;
}

Findings glossary(const SourceFile& page) {
  const std::vector<std::string_view> rows = rows_after(page, "# Glossary");
  Findings findings;
  if (rows.empty() || rows.size() > most_entries) {
    findings.push_back(page.path + ": " + std::to_string(rows.size()) + " entries; from 1 to " +
                       std::to_string(most_entries));
  }
  std::string last;
  for (const std::string_view row : rows) {
    const std::string word = lower(row.substr(2, row.find(" |", 2) - 2));
    if (word <= last) findings.push_back(page.path + ": '" + word + "' comes after '" + last + "'");
    last = word;
  }
  return findings;
}

}  // namespace kv::tidy
