// Rules about pages: what a README, ARCHITECTURE.md and GLOSSARY.md hold, and where links lead.
#pragma once

#include "kvcheck/tests/tidy/rooms.h"

namespace kv::tidy {

inline constexpr std::size_t most_readme_lines = 20;

// Every room has a README.md of at most 20 lines. The back-quoted names before the colons of its
// list are those of the room's headers, and of its sources without a header; none lacks a file.
Findings room_pages(const Rooms& rooms, const std::vector<SourceFile>& files);

// A relative link in Markdown names a file that exists, and after '#' a heading of it.
Findings dead_links(const std::vector<SourceFile>& files, const std::set<std::string>& paths);

// Every table in Markdown begins with a head and a line of dashes: an empty line between two rows
// ends the table, and what follows is shown as text.
Findings rows_outside_tables(const std::vector<SourceFile>& files);

// The table under "## Layers and rooms" has one row for each room, which links to its README.
Findings room_table(const SourceFile& architecture, const Rooms& rooms);

inline constexpr std::size_t fewest_answers = 30;

// The table under "## Where to find" has at least 30 rows, each with a link to a file of the
// tree.
Findings where_to_find(const SourceFile& architecture, const std::set<std::string>& paths);

inline constexpr std::size_t most_entries = 45;

// The glossary's table has at most 45 rows, in alphabetical order, each with one word or two.
Findings glossary(const SourceFile& page);

}  // namespace kv::tidy
