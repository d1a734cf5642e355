// Rules about #include: layers point down, no cycles, own header first, libraries stay at home.
#pragma once

#include <string>
#include <vector>

#include "tests/tidy/source_tree.h"

namespace kv::tidy {

// A rule returns one sentence per violation: "path:line: what is wrong".
using Findings = std::vector<std::string>;

// An include from the root must name this folder or one below it; an include of a library must be
// one that the folder may use.
Findings include_layers(const SourceFile& file);

// The first include of x.cpp is x.h, when there is one.
Findings own_header_first(const SourceFile& file, const std::set<std::string>& paths);

// No file includes itself through others.
Findings include_cycles(const std::vector<SourceFile>& files);

}  // namespace kv::tidy
