// What `kvcheck check` and `kvcheck uniformity` found, from the JSON lines that they write.
#pragma once

#include <string>

#include "kvcheck/base/error.h"

namespace kv::reports {

struct JsonFinding {
  bool decided = false;  // a law: it was run; always for a sample
  bool holds = false;
  std::string words{};  // what was found
};

// Of the law with that id: it holds if every subject of the file to which it applies keeps it, and
// is not decided if it was not run for one of them. Errors: a file that cannot be read or is not of
// `kvcheck check --json`; one in which the law applies to no subject.
Result<JsonFinding> law_finding(const std::string& path, const std::string& law);

// Of the spec, or of the program's or library's name: whether no test found a deviation. Errors:
// likewise; a file that does not have it.
Result<JsonFinding> uniformity_finding(const std::string& path, const std::string& subject);

}  // namespace kv::reports
