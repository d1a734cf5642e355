#include "kvcheck/tests/tidy/rooms.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <sstream>
#include <utility>

namespace kv::tidy {
namespace {

// A folder may use itself and folders with a lower number.
const std::map<std::string_view, int> heights = {
    {"base", 0},       {"traces", 1},  {"policies", 1}, {"sim", 2},  {"model", 3},
    {"properties", 3}, {"reports", 4}, {"cli", 5},      {"fuzz", 6}, {"python", 6},
};

// Folders of sources that are programs, and no layers.
const std::set<std::string_view> programs = {"bench", "examples", "tests"};

std::string without_comments(std::string_view cmake) {
  std::string text;
  for (const std::string_view line : lines_of(cmake)) {
    text += std::string(line.substr(0, line.find('#'))) + "\n";
  }
  return text;
}

// The text between "kv_room(" and ")"; nothing if there is no call.
std::optional<std::string> room_call(std::string_view cmake) {
  const std::string text = without_comments(cmake);
  const std::size_t begin = text.find("kv_room(");
  if (begin == std::string::npos) return std::nullopt;
  return text.substr(begin + 8, text.find(')', begin) - begin - 8);
}

bool may_use(const std::string& from, const std::string& to) {
  const std::string_view lower = folder_of(to).empty() ? to : folder_of(to);
  const std::string_view upper = folder_of(from).empty() ? from : folder_of(from);
  if (lower == upper) return true;
  return heights.contains(lower) && heights.contains(upper) &&
         heights.at(lower) < heights.at(upper);
}

std::string_view stem_of(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name.substr(0, name.find('.'));
}

}  // namespace

Rooms rooms_in(const std::vector<SourceFile>& files) {
  Rooms rooms;
  for (const SourceFile& file : files) {
    if (!file.path.ends_with("/CMakeLists.txt")) continue;
    const std::optional<std::string> call = room_call(file.text);
    if (!call) continue;
    std::set<std::string>& uses = rooms[std::string(room_of(file.path))];
    std::istringstream words(*call);
    bool listed = false;
    for (std::string word; words >> word;) {
      const bool keyword = word == "USES" || word == "LIBRARIES" || word == "PRIVATE_LIBRARIES";
      if (keyword) listed = word == "USES";
      if (!keyword && listed) uses.insert(word);
    }
  }
  return rooms;
}

std::string_view room_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

Findings folders_without_room(const std::vector<SourceFile>& files, const Rooms& rooms) {
  std::set<std::string_view> folders;
  for (const SourceFile& file : files) {
    if (is_source(file.path) && !programs.contains(folder_of(file.path))) {
      folders.insert(room_of(file.path));
    }
  }
  Findings findings;
  for (const std::string_view folder : folders) {
    if (rooms.contains(folder) && heights.contains(folder_of(std::string(folder) + "/"))) continue;
    findings.push_back(std::string(folder) + ": has sources, and is no room of a layer");
  }
  return findings;
}

Findings room_arrows(const Rooms& rooms) {
  Findings findings;
  enum class State { fresh, open, closed };
  std::map<std::string_view, State> states;
  const std::function<void(const std::string&)> visit = [&](const std::string& room) {
    states[room] = State::open;
    for (const std::string& used : rooms.at(room)) {
      if (!rooms.contains(used)) {
        findings.push_back(room + ": there is no room '" + used + "'");
        continue;
      }
      if (!may_use(room, used)) {
        findings.push_back(room + " may not use " + used + "; arrows point down only");
      }
      const State state = states[rooms.find(used)->first];
      if (state == State::open) findings.push_back(room + " uses " + used + ", and it " + room);
      if (state == State::fresh) visit(used);
    }
    states[room] = State::closed;
  };
  for (const auto& [room, uses] : rooms) {
    if (states[room] == State::fresh) visit(room);
  }
  return findings;
}

Findings crowded_folders(const std::set<std::string>& paths) {
  std::map<std::string_view, std::size_t> counts;
  for (const std::string& path : paths) {
    const bool folder = paths.lower_bound(path + "/") != paths.end() &&
                        paths.lower_bound(path + "/")->starts_with(path + "/");
    if (!folder && !path.starts_with("tests/")) ++counts[room_of(path)];
  }
  Findings findings;
  for (const auto& [folder, count] : counts) {
    if (count <= most_files) continue;
    findings.push_back(std::string(folder) + ": " + std::to_string(count) + " files; at most " +
                       std::to_string(most_files));
  }
  return findings;
}

Findings large_folders(const std::vector<SourceFile>& files,
                       const std::vector<FolderLimit>& limits) {
  Findings findings;
  for (const FolderLimit& limit : limits) {
    std::size_t lines = 0;
    for (const SourceFile& file : files) {
      const bool counts = is_source(file.path) && folder_of(file.path) == limit.folder;
      if (counts) lines += lines_of(file.text).size();
    }
    if (lines > 0 && lines < limit.lines) continue;
    findings.push_back(std::string(limit.folder) + ": " + std::to_string(lines) +
                       " lines of sources and headers; fewer than " + std::to_string(limit.lines));
  }
  return findings;
}

Findings headers_apart(const std::set<std::string>& paths) {
  const auto other = [](std::string_view path, std::string_view extension) {
    return std::string(path.substr(0, path.rfind('.'))) + std::string(extension);
  };
  std::map<std::pair<std::string_view, std::string_view>, std::string_view> alone;  // sources
  for (const std::string& path : paths) {
    if (!path.ends_with(".cpp") || paths.contains(other(path, ".h"))) continue;
    alone[{folder_of(path), stem_of(path)}] = path;
  }
  Findings findings;
  for (const std::string& path : paths) {
    if (!path.ends_with(".h") || !heights.contains(folder_of(path))) continue;
    const auto source = alone.find({folder_of(path), stem_of(path)});
    if (source == alone.end() || paths.contains(other(path, ".cpp"))) continue;
    findings.push_back(path + ": its source is " + std::string(source->second));
  }
  return findings;
}

}  // namespace kv::tidy
