#include "kvcheck/tests/tidy/page_rules.h"

#include <algorithm>
#include <cctype>
#include <map>

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

// Calls visit(index, line) on every line outside of blocks of code.
template <typename Visit>
void each_text_line(const SourceFile& page, const Visit& visit) {
  bool in_code = false;
  const std::vector<std::string_view> lines = lines_of(page.text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].starts_with("```")) in_code = !in_code;
    if (!in_code) visit(i, lines[i]);
  }
}

// The targets of a line's links to this tree, as they are written.
std::vector<std::string> targets_in(std::string_view line) {
  std::vector<std::string> targets;
  for (std::size_t from = line.find("]("); from != std::string_view::npos;
       from = line.find("](", from + 1)) {
    const std::size_t end = std::min(line.find(')', from), line.size());
    std::string target(line.substr(from + 2, end - from - 2));
    if (!target.empty() && target.find(':') == std::string::npos) {
      targets.push_back(std::move(target));
    }
  }
  return targets;
}

// The path of the file that a page's link leads to, which may be the page itself.
std::string file_of(const SourceFile& page, const std::string& target) {
  if (target.starts_with('#')) return page.path;
  return resolved(folder_path(page.path) + target.substr(0, target.find('#')));
}

// The anchor that GitHub gives to a heading: its text in small letters, without marks but hyphens
// and underscores, with hyphens for blanks.
std::string anchor_of(std::string_view heading) {
  std::string anchor;
  bool target = false;  // of a link, which is not part of the text
  for (std::size_t i = heading.find(' ') + 1; i < heading.size(); ++i) {
    const char c = heading[i];
    if (c == ']' && heading.substr(i + 1, 1) == "(") target = true;
    const bool word = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' ||
                      static_cast<unsigned char>(c) >= 0x80;
    if (!target && word) anchor += c;
    if (!target && c == ' ') anchor += '-';
    if (c == ')') target = false;
  }
  return lower(anchor);
}

// A heading's anchor that was given before gets "-1", the next "-2".
std::set<std::string> anchors_in(const SourceFile& page) {
  std::map<std::string, int> counts;
  std::set<std::string> anchors;
  each_text_line(page, [&](std::size_t, std::string_view line) {
    if (!line.starts_with('#') || line.find_first_not_of('#') != line.find(' ')) return;
    const std::string anchor = anchor_of(line);
    const int before = counts[anchor]++;
    anchors.insert(before == 0 ? anchor : anchor + "-" + std::to_string(before));
  });
  return anchors;
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

Findings dead_links(const std::vector<SourceFile>& files, const std::set<std::string>& paths) {
  Findings findings;
  for (const SourceFile& page : files) {
    if (!page.path.ends_with(".md")) continue;
    each_text_line(page, [&](std::size_t index, std::string_view line) {
      for (const std::string& target : targets_in(line)) {
        const std::string path = file_of(page, target);
        if (!paths.contains(path)) {
          findings.push_back(at(page, index) + "the link's file '" + target + "' is not there");
          continue;
        }
        const std::size_t hash = target.find('#');
        const SourceFile* const other = find(files, path);
        if (hash == std::string::npos ||
            (other != nullptr && anchors_in(*other).contains(target.substr(hash + 1)))) {
          continue;
        }
        findings.push_back(at(page, index) + "no heading for the link '" + target + "'");
      }
    });
  }
  return findings;
}

Findings rows_outside_tables(const std::vector<SourceFile>& files) {
  Findings findings;
  for (const SourceFile& file : files) {
    if (!file.path.ends_with(".md")) continue;
    const std::vector<std::string_view> lines = lines_of(file.text);
    each_text_line(file, [&](std::size_t i, std::string_view line) {
      if (!line.starts_with("|") || (i > 0 && lines[i - 1].starts_with("|"))) return;
      const std::string_view next = i + 1 < lines.size() ? lines[i + 1] : "";
      if (next.starts_with("| -") || next.starts_with("|-") || next.starts_with("| :")) return;
      findings.push_back(at(file, i) + "a row without the head of a table");
    });
  }
  return findings;
}

Findings room_table(const SourceFile& architecture, const Rooms& rooms) {
  Findings findings;
  std::set<std::string, std::less<>> listed;
  for (const std::string_view row : rows_after(architecture, "## Layers and rooms")) {
    const std::string name(row.substr(row.find('[') + 1, row.find(']') - row.find('[') - 1));
    listed.insert(name);
    if (!rooms.contains(name)) {
      findings.push_back(architecture.path + ": there is no room '" + name + "'");
    } else if (row.find("](" + name + "/README.md)") == std::string_view::npos) {
      findings.push_back(architecture.path + ": the row of '" + name + "' links to another page");
    }
  }
  for (const auto& [room, uses] : rooms) {
    if (!listed.contains(room)) {
      findings.push_back(architecture.path + ": no row for the room '" + room + "'");
    }
  }
  return findings;
}

Findings where_to_find(const SourceFile& architecture, const std::set<std::string>& paths) {
  const std::vector<std::string_view> rows = rows_after(architecture, "## Where to find");
  Findings findings;
  std::size_t answers = 0;
  for (const std::string_view row : rows) {
    const std::vector<std::string> targets = targets_in(row);
    const bool answered = std::ranges::any_of(targets, [&](const std::string& target) {
      return paths.contains(file_of(architecture, target));
    });
    answers += answered ? 1 : 0;
    if (!answered) {
      findings.push_back(architecture.path + ": no link to a file in '" + std::string(row) + "'");
    }
  }
  if (answers < fewest_answers) {
    findings.push_back(architecture.path + ": \"Where to find\" answers " +
                       std::to_string(answers) + " questions; at least " +
                       std::to_string(fewest_answers));
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
