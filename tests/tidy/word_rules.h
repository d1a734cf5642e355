// Rules about words: the vocabulary of GLOSSARY.md, and what ARCHITECTURE.md promises to answer.
#pragma once

#include "kvcheck/tests/tidy/rooms.h"

namespace kv::tidy {

// Home-made words that GLOSSARY.md replaces do not come back: in the identifiers of sources, in the
// comments of headers and in Markdown (code blocks and `code` aside).
Findings retired_words(const SourceFile& file);

// What is left of a text of Markdown without its code blocks, `code` and the targets of links.
std::string prose_of(std::string_view markdown);

// The comments of a source, each line in its place; all else is blank.
std::string comments_of(std::string_view source);

inline constexpr std::size_t fewest_answers = 30;

// The table under "## Where to find" has at least 30 rows, each with a link. Dead ones are
// dead_links()'s to find.
Findings where_to_find(const SourceFile& architecture);

inline constexpr std::size_t most_entries = 45;

// The glossary's table has at most 45 rows, in alphabetical order, each with one word or two.
Findings glossary(const SourceFile& page);

}  // namespace kv::tidy
