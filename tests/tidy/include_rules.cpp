#include "tests/tidy/include_rules.h"

#include <algorithm>
#include <functional>
#include <map>
#include <span>

namespace kv::tidy {
namespace {

using Names = std::vector<std::string_view>;

// The architecture: each folder, and those it may include besides itself.
const std::map<std::string_view, Names> layers = {
    {"base", {}},
    {"traces", {"base"}},
    {"policies", {"base"}},
    {"sim", {"base", "traces", "policies"}},
    {"model", {"base", "traces", "policies", "sim"}},
    {"properties", {"base", "traces", "policies", "sim"}},
    {"reports", {"base", "traces", "policies", "sim", "properties"}},
    {"cli", {"base", "traces", "policies", "sim", "model", "properties", "reports"}},
    {"bench", {"base", "traces", "policies", "sim", "model", "properties", "reports", "cli"}},
    {"tests", {"base", "traces", "policies", "sim", "model", "properties", "reports", "cli"}},
};

// Libraries that belong to some folders; tests may use all.
const std::map<std::string_view, Names> homes = {
    {"<rapidcheck", {"tests", "properties"}},
    {"<gtest/", {"tests", "properties"}},
    {"<gmock/", {"tests"}},
    {"<benchmark/", {"bench"}},
    {"<boost/program_options", {"cli"}},
    {"<boost/system/result.hpp", {"base"}},
    {"<sqlite3.h", {"reports"}},
    {"<tbb/", {"sim"}},
    {"<oneapi/tbb", {"sim"}},
    {"<zip.h", {"traces"}},
    {"<immintrin.h", {"base", "model"}},
    {"<unicode/", {"model"}},
    {"<Eigen/", {"tests"}},
};

struct Include {
  std::size_t line = 0;     // 1-based
  std::string_view target;  // with its < or without its quotes
  bool ours = false;        // between quotes
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

void check_ours(const SourceFile& file, const Include& include, Findings& findings) {
  const std::string_view from = folder_of(file.path);
  const std::string_view to = folder_of(include.target);
  if (to.empty() || to.starts_with('.')) {
    findings.push_back(at(file, include) + "write the include from the root, not '" +
                       std::string(include.target) + "'");
  } else if (!layers.contains(to)) {
    findings.push_back(at(file, include) + "there is no folder '" + std::string(to) + "'");
  } else if (from != to && !holds(layers.at(from), to)) {
    findings.push_back(at(file, include) + std::string(from) + " may not include " +
                       std::string(to) + "; arrows point down only");
  }
  if (include.target.ends_with("_avx512.h") && !file.path.ends_with("_avx512.cpp")) {
    findings.push_back(at(file, include) + std::string(include.target) +
                       " is compiled for an instruction set; it is for *_avx512.cpp alone");
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

}  // namespace

Findings include_layers(const SourceFile& file) {
  Findings findings;
  if (!layers.contains(folder_of(file.path))) return findings;
  for (const Include& include : includes_of(file)) {
    (include.ours ? check_ours : check_library)(file, include, findings);
  }
  return findings;
}

Findings own_header_first(const SourceFile& file, const std::set<std::string>& paths) {
  if (!file.path.ends_with(".cpp")) return {};
  const std::string header = file.path.substr(0, file.path.size() - 4) + ".h";
  const std::vector<Include> includes = includes_of(file);
  if (!paths.contains(header) || (!includes.empty() && includes[0].target == header)) return {};
  return {file.path + ":1: the first include is not \"" + header + "\""};
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
      const auto target = by_path.find(include.target);
      if (!include.ours || target == by_path.end()) continue;
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

}  // namespace kv::tidy
