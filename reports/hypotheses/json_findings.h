// What `kvcheck check` and `kvcheck uniformity` found, from the JSON lines that they write.
#pragma once

#include <string>

#include "kvcheck/base/error.h"
#include "kvcheck/reports/hypotheses/verdict.h"

namespace kv::reports {

struct JsonFinding {
  Verdict verdict = Verdict::undecided;
  std::string words{};  // what was found
};

// Of the law with that id: it does not hold if any subject of the file breaks it, and is not
// decided if none does but it was not run for one to which it applies. Errors: a file that cannot
// be read or is not of `kvcheck check --json`; one in which the law applies to no subject.
Result<JsonFinding> law_finding(const std::string& path, const std::string& law);

// Of the spec, or of the program's or library's name: whether no test found a deviation. Errors:
// likewise; a file that has it not, or in several lines.
Result<JsonFinding> uniformity_finding(const std::string& path, const std::string& subject);

}  // namespace kv::reports
