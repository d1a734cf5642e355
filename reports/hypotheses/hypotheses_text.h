// Decided hypotheses for readers and for programs.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "kvcheck/reports/hypotheses/decide.h"

namespace kv::reports {

// A list of all hypotheses with their verdicts, and below it the conditions of each. Lines of a
// terminal are folded at `width` characters; 0 stands for any width.
std::string hypotheses_text(const std::vector<DecidedHypothesis>& decided, std::size_t width);

// The same as Markdown: a table that leads to a section for each.
std::string hypotheses_markdown(const std::vector<DecidedHypothesis>& decided);

// A line of JSON per hypothesis; docs/schemas/verdicts.schema.json describes them.
std::string hypotheses_lines(const std::vector<DecidedHypothesis>& decided);

}  // namespace kv::reports
