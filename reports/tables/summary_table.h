// The table of a replay: one row per spec.
#pragma once

#include <cstddef>
#include <string>

#include "kvcheck/reports/numbers/summary.h"
#include "kvcheck/reports/tables/tables.h"
#include "kvcheck/sim/replay/replay.h"

namespace kv::reports {

// One row per spec, its seeds averaged, in the order of sort_for_tables: policy, budget, what is
// retained once the cache evicts, top-k overlap and output error of the same queries, what is
// retained over all queries, rows visible and stored, evictions, KiB. KL to dense has a column if
// it is a number of its own for some spec. If the trace's queries are a sample, each of these has
// half the width of its interval beside it. See reports/numbers/summary.h for what each number is.
Table summary_table(const ReplayResult& result);

// The rows of a table whose caches store no more than their budget, or the others. Requires a
// column named stores_more.
Table rows_that_store(const Table& table, bool more);

// summary_table as Markdown: the caches that store no more than their budget, then the others.
std::string summary_markdown(const Table& table);

// What a spec retains as a share of the optimum, after the first loss. If the optimum is not known,
// "≥" and the share of a bound that is never below the optimum.
Entry optimum_share_entry(const SpecSummary& summary);

// What must be said of a trace that records some of its queries only: which, whether they stand for
// all, and which policies decided by them; empty for one with all queries.
std::string sample_words(const ReplayResult& result);

// "yes" if the cache stores more than its budget, or has none.
Entry stores_more_entry(const SpecSummary& summary);

// The meaning of each label, in the order of the cells: policy, budget, number of seeds, full spec.
Table specs_table(const ReplayResult& result);

// summary_table as text for a terminal: the caches that store no more than their budget, then the
// others, and a line that says of which queries the numbers are.
std::string summary_text(const ReplayResult& result, std::size_t width = 0);

}  // namespace kv::reports
