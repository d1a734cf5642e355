// Rules about the text of a file: its size, words that only some files may use, policies.
#pragma once

#include "kvcheck/tests/tidy/rooms.h"

namespace kv::tidy {

inline constexpr std::size_t most_lines = 300;
inline constexpr std::size_t most_columns = 100;

// A source has at most 300 lines of at most 100 columns, without tabs and without blanks at the end
// of a line.
Findings sizes(const SourceFile& file);

// Random numbers, clocks, printing, exits, exceptions, raw memory and instruction sets are used
// only where the architecture allows them.
Findings banned_words(const SourceFile& file);

// A header in policies/ that makes a Policy leaves Source, Differs and Cost to its entry, which has
// them: said twice, they drift apart.
Findings policy_headers(const SourceFile& file);

// policies/registry/registry.cpp lists every entry that a header in policies/ declares.
Findings unregistered_policies(const std::vector<SourceFile>& files);

// A comment of a source that names a header or a source, alone or by its path, means one of the
// tree.
Findings lost_names(const SourceFile& file, const std::set<std::string>& paths);

}  // namespace kv::tidy
