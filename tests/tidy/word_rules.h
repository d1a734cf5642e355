// The rule about words: the vocabulary of GLOSSARY.md.
#pragma once

#include "kvcheck/tests/tidy/rooms.h"

namespace kv::tidy {

// Home-made words that GLOSSARY.md replaces do not come back: in the identifiers, comments and
// literals of sources, in Python and shell, and in Markdown (code blocks and `code` aside).
Findings retired_words(const SourceFile& file);

// What is left of a text of Markdown without its code blocks, `code` and the targets of links.
std::string prose_of(std::string_view markdown);

}  // namespace kv::tidy
