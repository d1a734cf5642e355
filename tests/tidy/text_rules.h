// Rules about what a file says: its size, words that only one place may use, links, policies.
#pragma once

#include "kvcheck/tests/tidy/include_rules.h"

namespace kv::tidy {

inline constexpr std::size_t most_lines = 300;
inline constexpr std::size_t most_columns = 100;

// A source has at most 300 lines of at most 100 columns, no tab and no blank at a line's end.
Findings sizes(const SourceFile& file);

// Chance, clocks, printing, exits, exceptions, raw memory and instruction sets stay where the
// architecture puts them.
Findings banned_words(const SourceFile& file);

// A header in policies/ that makes a Policy leaves Source, Differs and Cost to its entry, which has
// them: said twice, they drift apart.
Findings policy_headers(const SourceFile& file);

// Of every header in policies/ that tells policies' entries, policies/registry/registry.cpp lists
// each.
Findings unregistered_policies(const std::vector<SourceFile>& files);

// A relative link in Markdown names a file that is there.
Findings dead_links(const SourceFile& file, const std::set<std::string>& paths);

}  // namespace kv::tidy
