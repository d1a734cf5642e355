// The rooms of the source tree and the rooms that each may use, as their CMakeLists.txt files
// state.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kvcheck/tests/tidy/source_tree.h"

namespace kv::tidy {

// A rule returns one sentence per violation: "path:line: what is wrong".
using Findings = std::vector<std::string>;

// Each room ("sim/cache") with those that the kv_room() of its CMakeLists.txt lists under USES.
using Rooms = std::map<std::string, std::set<std::string>, std::less<>>;

// `files` are those of read_tree().
Rooms rooms_in(const std::vector<SourceFile>& files);

// The whole folder of a path: "sim/cache" for "sim/cache/slots.h".
std::string_view room_of(std::string_view path);

// Each folder of sources or headers is a room of a layer, except in tests/, bench/ and examples/.
Findings folders_without_room(const std::vector<SourceFile>& files, const Rooms& rooms);

// A room uses only rooms that exist and belong to its own layer or a lower one. No room uses itself
// through others. The layers, lowest first: base; traces and policies; sim; model and properties;
// reports; cli; fuzz.
Findings room_arrows(const Rooms& rooms);

inline constexpr std::size_t most_files = 30;
// `folder` ends without a slash; `paths` are those of paths_in(). A folder outside tests/ holds at
// most 30 files.
Findings crowded_folders(const std::set<std::string>& paths);

// A top folder with the lines that its sources and headers stay below.
struct FolderLimit {
  std::string_view folder;
  std::size_t lines = 0;
};

// Each of these folders has fewer lines of sources and headers than its limit.
Findings large_folders(const std::vector<SourceFile>& files,
                       const std::vector<FolderLimit>& limits);

// What x.h of a layer declares is defined beside it, not in a room above: where no x.cpp stands
// beside it, none stands elsewhere in the layer without an x.h of its own.
Findings headers_apart(const std::set<std::string>& paths);

}  // namespace kv::tidy
