// An evaluation as tables for readers, and as CSV and JSON lines.
//
// The same result gives the same bytes. Numbers in CSV and JSON print as the shortest text that
// reads back exactly; the fields are described in reports/SCHEMA.md.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "kvcheck/reports/tables/tables.h"
#include "kvcheck/sim/replay/closed_loop.h"

namespace kv::reports {

// The short name of each cell's spec in tables and figures, from labels_of().
std::vector<std::string> labels_of_cells(const ClosedLoopResult& result);

// A row per cell: perplexity, over everything and over segments that double, recall over all
// distances if the text asks anything, and KiB of keys and values.
Table perplexity_table(const ClosedLoopResult& result);

// A row per cell: the share of answers that were right, by distance; how many were asked stands in
// the title. Without rows where the text asks nothing.
Table recall_table(const ClosedLoopResult& result);

// Rounded for readers, exact in CSV.
Entry perplexity_entry(double value);

// "recall.txt, 4,096 tokens in 1 stream" or "... in 17 windows of at most 256 tokens"
std::string text_of(const ClosedLoopResult& result);

// "MODEL on TEXT; closed loop: ...", the line above the tables.
std::string closed_loop_line(const ClosedLoopResult& result);

// One row per cell of all results, under one header.
std::string closed_loop_csv(std::span<const ClosedLoopResult> results);

// One row per cell and point of the series.
std::string closed_loop_series_csv(const ClosedLoopResult& result);

// One JSON object per line and cell.
std::string closed_loop_json(const ClosedLoopResult& result);

}  // namespace kv::reports
