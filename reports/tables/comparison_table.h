// The comparison: what policies retain, how that changes the perplexity of a model, and what time
// and memory they need, with a row per spec.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "kvcheck/reports/store/results.h"
#include "kvcheck/reports/tables/tables.h"

namespace kv::reports {

// The results that are compared.
struct ComparedRuns {
  const ReplayResult* open = nullptr;        // null: there is nothing to compare
  const ClosedLoopResult* closed = nullptr;  // null likewise
  const TimingResult* timed = nullptr;       // may be null
};

// The trace and the evaluation of one model that have the most specs in common, at least two; the
// first such pair among equals. With them the timing that has the most of these specs, if any has
// one. Models are the same if their names are; a trace names the last part of its model's path.
ComparedRuns runs_to_compare(std::span<const StoredRun> runs);

// A row per spec that both loops have, by budget, then by retained mass, highest first. Seeds are
// averaged; for perplexity its logarithm is. `p` compares the retained mass with that of the next
// row of the same budget, in pairs over heads (paired_flips), corrected for all such pairs (holm).
// Requires that `open` and `closed` are not null.
Table comparison_table(const ComparedRuns& runs);

// What the numbers of the table were measured on, for readers.
std::string comparison_words(const ComparedRuns& runs);

}  // namespace kv::reports
