// Rules about #include: a room includes only rooms that it names, no cycles exist, the own header
// comes first, and each library is included only in its home.
#pragma once

#include <string>
#include <vector>

#include "kvcheck/tests/tidy/rooms.h"

namespace kv::tidy {

// An include of ours is written from the root with the project's name, "kvcheck/sim/spec/spec.h",
// and names the file's own room or one that the room uses; tests/ and bench/ may use all. An
// include of a library must be one that the folder may use. None stands in a region for an
// instruction set.
Findings include_homes(const SourceFile& file, const Rooms& rooms);

// Each room that a room lists under USES is included by one of its files. A few are only linked.
Findings unused_rooms(const Rooms& rooms, const std::vector<SourceFile>& files);

// Every library that has a home is included somewhere.
Findings unused_homes(const std::vector<SourceFile>& files);

// The first include of x.cpp is x.h, if x.h exists.
Findings own_header_first(const SourceFile& file, const std::set<std::string>& paths);

// No file includes itself through others.
Findings include_cycles(const std::vector<SourceFile>& files);

// A header that is meant to reach few sources, with the most of them that it may, in percent.
struct CentralHeader {
  std::string path;
  std::size_t most_percent = 100;
};

// A change of a header that many sources reach through others makes all of them compile anew: each
// of these reaches no more of the tree's sources (*.cpp, tests and benchmarks too) than it may.
Findings far_reaching_headers(const std::vector<SourceFile>& files,
                              const std::vector<CentralHeader>& headers);

}  // namespace kv::tidy
