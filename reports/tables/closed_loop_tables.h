// An evaluation as tables for readers, and as CSV and JSON lines.
//
// The same result gives the same bytes. Numbers in CSV and JSON print as the shortest text that
// reads back exactly; the fields are described in reports/SCHEMA.md.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "kvcheck/reports/tables/tables.h"

namespace kv {
struct ClosedLoopCell;
struct ClosedLoopResult;
struct RecallBin;
}  // namespace kv

namespace kv::reports {

// The name of each cell's spec, from names_of().
std::vector<std::string> names_of_cells(const ClosedLoopResult& result);

// Dense's perplexity over the targets from the cell's first loss on; NaN if the cell loses nothing,
// or the result has no dense that stores keys and values alike. Before its first loss a cell
// predicts as dense does, so dense's sum of losses there is the cell's own.
double dense_perplexity_after(const ClosedLoopResult& result, const ClosedLoopCell& cell);

// A row per cell: perplexity over all targets and over segments of doubling length, recall over all
// distances if the text asks questions, and KiB of keys and values. If a cell evicts, the
// perplexity from its first loss on, dense's over the same targets, and how many these are.
Table perplexity_table(const ClosedLoopResult& result);

// What the table shows, as its title.
std::string perplexity_title(const ClosedLoopResult& result);

// What these last columns mean, in sentences; empty if the table has none.
std::string perplexity_words(const ClosedLoopResult& result);

// A row per cell: the share of correct answers by distance. The column titles say how many
// questions there were. The table has no rows if the text asks none.
Table recall_table(const ClosedLoopResult& result);

// A fact is far back from so many tokens on.
inline constexpr std::size_t far_back = 64;

// The answers to questions about facts that are at least `far_back` tokens back.
RecallBin far_recall(const ClosedLoopCell& cell);

// A perplexity, rounded for readers and exact in CSV.
Entry perplexity_entry(double value);

// "recall.txt, 4,096 tokens in 1 stream" or "... in 17 windows of at most 256 tokens"
std::string text_of(const ClosedLoopResult& result);

// "MODEL on TEXT; closed loop: ...", the line above the tables.
std::string closed_loop_line(const ClosedLoopResult& result);

// CSV: one row per cell of all results, under one header.
std::string closed_loop_csv(std::span<const ClosedLoopResult> results);

// CSV: one row per cell and point of the series.
std::string closed_loop_series_csv(const ClosedLoopResult& result);

// JSON lines: one object per cell.
std::string closed_loop_json(const ClosedLoopResult& result);

}  // namespace kv::reports
