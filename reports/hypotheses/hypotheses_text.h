// Decided hypotheses for readers and for programs.
#pragma once

#include <string>
#include <vector>

#include "kvcheck/reports/hypotheses/decide.h"

namespace kv::reports {

// All hypotheses with their verdicts, each with its conditions below it.
std::string hypotheses_text(const std::vector<DecidedHypothesis>& decided);

// The same as Markdown: a table that leads to a section for each.
std::string hypotheses_markdown(const std::vector<DecidedHypothesis>& decided);

// A line of JSON per hypothesis; docs/schemas/verdicts.schema.json describes them.
std::string hypotheses_lines(const std::vector<DecidedHypothesis>& decided);

}  // namespace kv::reports
