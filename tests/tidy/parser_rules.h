// The rule that whatever reads text or bytes from outside the program is fuzzed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kvcheck/tests/tidy/rooms.h"

namespace kv::tidy {

// The functions that the headers of the layers declare and that parse, read, open or load
// something: their names begin with one of these verbs, they return a Result or read JSON, and they
// take text, bytes or a path. A static function is named with its class.
std::vector<std::string> parsers_in(const std::vector<SourceFile>& files);

// A parser that no fuzz target needs to call.
struct ParserWithoutTarget {
  std::string_view parser;
  std::string_view through;  // the parser that calls it and that a target calls; empty: see `why`
  std::string_view why{};    // why it is not fuzzed at all
};

// Each parser is called in a source of fuzz/, or listed in `exempt`. Whatever `exempt` lists
// exists, is not called in fuzz/, and names a caller that is, or a reason.
Findings parsers_without_target(const std::vector<SourceFile>& files,
                                const std::vector<ParserWithoutTarget>& exempt);

// Each name in the table of fuzz targets has a corpus, and each folder of fuzz/corpus is a target.
Findings targets_without_corpus(const std::vector<SourceFile>& files,
                                const std::set<std::string>& paths);

}  // namespace kv::tidy
