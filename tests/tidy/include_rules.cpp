#include "kvcheck/tests/tidy/include_rules.h"

#include <algorithm>
#include <functional>
#include <map>
#include <span>
#include <utility>

namespace kv::tidy {
namespace {

using Names = std::vector<std::string_view>;

// The first part of the path in every include of the project.
constexpr std::string_view project = "kvcheck/";

// Libraries that belong to some folders; tests may use all.
const std::map<std::string_view, Names> homes = {
    {"<rapidcheck", {"tests", "properties"}},
    {"<gtest/", {"tests", "properties"}},
    {"<gmock/", {"tests"}},
    {"<benchmark/", {"bench"}},
    {"<boost/system/result.hpp", {"base"}},
    {"<sqlite3.h", {"reports"}},
    {"<zip.h", {"traces"}},
    {"<immintrin.h", {"base"}},
    {"<hwy/", {"base", "model"}},
    {"<unicode/", {"model"}},
    {"<Eigen/", {"policies"}},
};

// Rooms that a room must link although none of its files includes them.
const std::map<std::string_view, Names> only_linked = {
    // properties/laws/judging/law_groups.h declares the groups that these rooms define.
    {"properties/laws",
     {"properties/laws/histories", "properties/laws/relations", "properties/laws/chance"}},
};

struct Include {
  std::size_t line = 0;     // 1-based
  std::string_view target;  // with its < or without its quotes
  bool ours = false;        // written between quotes
};

std::vector<Include> includes_of(const SourceFile& file) {
  std::vector<Include> found;
  const std::vector<std::string_view> lines = lines_of(file.text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::string_view line = lines[i];
    if (!line.starts_with("#include ")) continue;
    line.remove_prefix(9);
    const bool ours = line.starts_with('"');
    const std::size_t end = line.find(ours ? '"' : '>', 1);
    if (end == std::string_view::npos) continue;
    const std::size_t begin = ours ? 1 : 0;
    found.push_back({i + 1, line.substr(begin, end - begin), ours});
  }
  return found;
}

bool holds(const Names& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

std::string at(const SourceFile& file, const Include& include) {
  return file.path + ":" + std::to_string(include.line) + ": ";
}

bool uses_all(std::string_view folder) {
  return folder == "tests" || folder == "bench";
}

void check_ours(const SourceFile& file,
                const Include& include,
                const Rooms& rooms,
                Findings& findings) {
  if (!include.target.starts_with(project)) {
    findings.push_back(at(file, include) +
                       "write the include from the root, as \"kvcheck/...\", not '" +
                       std::string(include.target) + "'");
    return;
  }
  const std::string_view path = include.target.substr(project.size());
  const std::string_view to = room_of(path);
  const std::string_view from = room_of(file.path);
  const bool test = uses_all(folder_of(file.path));
  const auto room = rooms.find(from);
  if (!rooms.contains(to) && !(test && uses_all(folder_of(path)))) {
    findings.push_back(at(file, include) + "there is no room '" + std::string(to) + "'");
  } else if (!test && from != to &&
             (room == rooms.end() || !room->second.contains(std::string(to)))) {
    findings.push_back(at(file, include) + std::string(from) + " may not include " +
                       std::string(to) + ", which its CMakeLists.txt does not list under USES");
  }
  for (const std::string_view set : {"_avx512", "_highway"}) {
    if (path.ends_with(std::string(set) + ".h") &&
        file.path.find(std::string(set) + ".") == std::string::npos) {
      findings.push_back(at(file, include) + std::string(path) +
                         " is compiled for an instruction set; it is for *" + std::string(set) +
                         ".cpp alone");
    }
  }
}

void check_library(const SourceFile& file, const Include& include, Findings& findings) {
  const std::string_view from = folder_of(file.path);
  for (const auto& [prefix, folders] : homes) {
    if (!include.target.starts_with(prefix) || from == "tests" || holds(folders, from)) continue;
    findings.push_back(at(file, include) + std::string(include.target) + "> belongs to " +
                       std::string(folders.front()));
  }
}

// The 1-based line that opens the file's region for an instruction set; past the end if none does.
std::size_t region_line(const SourceFile& file) {
  const std::vector<std::string_view> lines = lines_of(file.text);
  const auto found = std::ranges::find_if(lines, [](std::string_view line) {
    return line == "KV_AVX512_BEGIN" || line == "HWY_BEFORE_NAMESPACE();";
  });
  return static_cast<std::size_t>(found - lines.begin()) + 1;
}

}  // namespace

Findings include_homes(const SourceFile& file, const Rooms& rooms) {
  Findings findings;
  if (!rooms.contains(room_of(file.path)) && !uses_all(folder_of(file.path))) return findings;
  if (file.path.starts_with("tests/install/consumer/")) return findings;  // a project of its own
  const std::size_t region = region_line(file);
  for (const Include& include : includes_of(file)) {
    if (include.line > region) {
      findings.push_back(at(file, include) +
                         "stands below the line that begins the code for an "
                         "instruction set, and would be compiled for it; expected above it");
    }
    if (include.ours) {
      check_ours(file, include, rooms, findings);
    } else {
      check_library(file, include, findings);
    }
  }
  return findings;
}

Findings unused_rooms(const Rooms& rooms, const std::vector<SourceFile>& files) {
  std::set<std::pair<std::string_view, std::string_view>> included;
  for (const SourceFile& file : files) {
    for (const Include& include : includes_of(file)) {
      if (!include.ours || !include.target.starts_with(project)) continue;
      included.insert({room_of(file.path), room_of(include.target.substr(project.size()))});
    }
  }
  Findings findings;
  for (const auto& [room, uses] : rooms) {
    const auto linked = only_linked.find(room);
    for (const std::string& used : uses) {
      const bool exempt = linked != only_linked.end() && holds(linked->second, used);
      if (exempt != included.contains({room, used})) continue;
      findings.push_back(room + (exempt ? ": includes " + used + ", which is listed as only linked"
                                        : ": no file includes " + used + ", which USES lists"));
    }
  }
  return findings;
}

Findings unused_homes(const std::vector<SourceFile>& files) {
  std::set<std::string_view> used;
  for (const SourceFile& file : files) {
    for (const Include& include : includes_of(file)) {
      for (const auto& [prefix, folders] : homes) {
        if (include.target.starts_with(prefix)) used.insert(prefix);
      }
    }
  }
  Findings findings;
  for (const auto& [prefix, folders] : homes) {
    // Libraries that only tests use may be included by their precompiled header.
    const bool tests_only = folders == Names{"tests"};
    if (tests_only || used.contains(prefix)) continue;
    findings.push_back("no file includes " + std::string(prefix));
  }
  return findings;
}

Findings own_header_first(const SourceFile& file, const std::set<std::string>& paths) {
  if (!file.path.ends_with(".cpp")) return {};
  const std::string header = file.path.substr(0, file.path.size() - 4) + ".h";
  const std::vector<Include> includes = includes_of(file);
  if (!paths.contains(header) ||
      (!includes.empty() && includes[0].target == std::string(project) + header))
    return {};
  return {file.path + ":1: the first include is not \"kvcheck/" + header + "\""};
}

Findings include_cycles(const std::vector<SourceFile>& files) {
  std::map<std::string_view, const SourceFile*> by_path;
  for (const SourceFile& file : files) by_path[file.path] = &file;

  enum class State { fresh, open, closed };
  std::map<std::string_view, State> states;
  Findings findings;
  const std::function<void(const SourceFile&)> visit = [&](const SourceFile& file) {
    states[file.path] = State::open;
    for (const Include& include : includes_of(file)) {
      if (!include.ours || !include.target.starts_with(project)) continue;
      const auto target = by_path.find(include.target.substr(project.size()));
      if (target == by_path.end()) continue;
      const State state = states[target->first];
      if (state == State::open) findings.push_back(at(file, include) + "closes an include cycle");
      if (state == State::fresh) visit(*target->second);
    }
    states[file.path] = State::closed;
  };
  for (const SourceFile& file : files) {
    if (states[file.path] == State::fresh) visit(file);
  }
  return findings;
}

Findings far_reaching_headers(const std::vector<SourceFile>& files,
                              const std::vector<CentralHeader>& headers) {
  std::map<std::string_view, std::vector<std::string_view>> included;
  for (const SourceFile& file : files) {
    for (const Include& include : includes_of(file)) {
      if (!include.ours || !include.target.starts_with(project)) continue;
      included[file.path].push_back(include.target.substr(project.size()));
    }
  }
  std::size_t sources = 0;
  std::map<std::string_view, std::size_t> reached;  // by header: how many sources
  for (const SourceFile& file : files) {
    if (!file.path.ends_with(".cpp")) continue;
    ++sources;
    std::set<std::string_view> met;
    const std::function<void(std::string_view)> visit = [&](std::string_view path) {
      if (!met.insert(path).second) return;
      if (path != file.path) ++reached[path];
      for (const std::string_view next : included[path]) visit(next);
    };
    visit(file.path);
  }
  Findings findings;
  for (const CentralHeader& header : headers) {
    if (find(files, header.path) == nullptr) {
      findings.push_back(header.path + ": is not there");
      continue;
    }
    if (100 * reached[header.path] <= header.most_percent * sources) continue;
    findings.push_back(header.path + ": reaches " + std::to_string(reached[header.path]) +
                       " sources of " + std::to_string(sources) + "; at most " +
                       std::to_string(header.most_percent) + " %");
  }
  return findings;
}

}  // namespace kv::tidy
