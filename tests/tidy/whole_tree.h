// The tree that the tests of the rules read, and a small one to plant violations in.
#pragma once

#include "kvcheck/tests/paths.h"
#include "kvcheck/tests/tidy/rooms.h"

namespace kv::tidy {

inline const std::vector<SourceFile>& tree() {
  static const std::vector<SourceFile> files = read_tree(KVCHECK_SOURCE_DIR);
  return files;
}

inline const std::set<std::string>& paths() {
  static const std::set<std::string> all = paths_in(KVCHECK_SOURCE_DIR);
  return all;
}

inline const Rooms& rooms() {
  static const Rooms all = rooms_in(tree());
  return all;
}

// What a rule about one file finds in the whole tree.
template <typename Rule>
Findings everywhere(const Rule& rule) {
  Findings findings;
  for (const SourceFile& file : tree()) {
    for (std::string& finding : rule(file)) findings.push_back(std::move(finding));
  }
  return findings;
}

inline const Rooms& planted() {
  static const Rooms some = rooms_in({
      {"base/CMakeLists.txt", "kv_room(LIBRARIES Boost::headers)"},
      {"policies/CMakeLists.txt", "kv_room(USES base)"},
      {"sim/spec/CMakeLists.txt", "# rooms\nkv_room(USES base\n  policies LIBRARIES Boost::json)"},
      {"sim/cache/CMakeLists.txt", "kv_room(USES sim/spec)"},
      {"cli/CMakeLists.txt", "kv_room(USES base sim/spec)"},
      {"bench/CMakeLists.txt", "add_executable(x x.cpp)"},
  });
  return some;
}

}  // namespace kv::tidy
