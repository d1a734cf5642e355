// The comparison: what policies keep, what that costs a model, and what it takes, a row per spec.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "kvcheck/reports/store/results.h"
#include "kvcheck/reports/tables/tables.h"

namespace kv::reports {

// What is put side by side.
struct ComparedRuns {
  const ReplayResult* open = nullptr;        // null: there is nothing to compare
  const ClosedLoopResult* closed = nullptr;  // null likewise
  const TimingResult* timed = nullptr;       // may be null
};

// Of these runs the trace and the evaluation of one model that have the most specs in common, two
// at least, the first among equals; and the timing that has the most of these, if any has one.
// Models are the same whose names are: a trace's is the last part of its model's path.
ComparedRuns runs_to_compare(std::span<const StoredRun> runs);

// A row per spec that both loops tell of: by budget, then by retained mass, highest first. Seeds
// are averaged: of perplexity its logarithm. `p` compares the retained mass with the next row's of
// the same budget, in pairs over heads (paired_flips), corrected for all such pairs (holm).
// Requires something to compare.
Table comparison_table(const ComparedRuns& runs);

// What the table's numbers are of, for readers.
std::string comparison_words(const ComparedRuns& runs);

}  // namespace kv::reports
