// Text that `kvcheck replay` adds to that of reports/: the line above the table, and the CSV of
// several traces under one header.
#pragma once

#include <string>

#include "kvcheck/cli/options/command.h"
#include "kvcheck/cli/options/result_outputs.h"
#include "kvcheck/cli/replay/replay_plan.h"
#include "kvcheck/sim/replay/replay.h"

namespace kv::cli {

// "NAME: 512 tokens, ...; open loop: ...", one line that describes what the table below it was
// measured on.
std::string head_line(const TraceInfo& trace);

// A line per cell and, if `per_head`, one per query head after it.
std::string csv_text(const ReplayResult& result, bool per_head, bool with_header);

// Prints which traces are too short for which budgets, also with --quiet, because the outputs have
// less than was asked for. Without it, also which policies a trace cannot serve, and notes on specs
// and dumps that may not do what the user meant.
void say_notes(const ReplayPlan& plan, Streams& streams);

// A line for each file that was written, and the command that makes a report of the results.
std::string where_lines(const Outputs& outputs);

}  // namespace kv::cli
