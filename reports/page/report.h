// The report: a run, or the newest replay with the newest evaluation, as a folder of pages, figures
// and tables.
//
//   DIR/index.html        self-contained: text, tables and figures, no other file needed
//   DIR/explore-1.html    the explorer of run 1 (reports/explorer), if it replayed traces
//   DIR/trace-1/NAME.svg  each figure, also as NAME.png and its numbers as NAME.csv
//   DIR/trace-1/summary.csv, summary.md, cells.csv, cells.jsonl, heads.csv, series.csv, dense.csv
//   DIR/trace-2/...       and so on for the run's other traces
//   DIR/evaluation-1/...  the same for texts that a model read: perplexities.csv, perplexity.md,
//                         recalls.csv, recall.md, cells.csv, cells.jsonl, series.csv
//   DIR/comparison/       where a trace and an evaluation have specs in common: comparison.csv and
//                         .md, both loops and times in one table
//   DIR/texts/            if several texts were replayed or read: MEASURE.csv, what they say
//   DIR/logs/             if logs of other programs are given: perplexity.svg, .png and .csv,
//                         perplexities.csv and .md
//   DIR/laws/             if a kill matrix is given: kill-matrix.svg, .png, .csv and .md,
//                         mutants.csv, laws.csv
//
// The same run gives the same bytes (with the same gnuplot). Without gnuplot the report has no
// figures and says so.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/reports/store/results.h"
#include "kvcheck/reports/tables/kill_matrix.h"
#include "kvcheck/reports/tables/loss_log.h"

namespace kv::reports {

struct ExplorerTrace;

// What a report shows in addition to its runs.
struct ReportExtras {
  const KillMatrix* matrix = nullptr;  // of the laws; null: none
  std::vector<LossLogs> logs{};        // of other programs, one folder per model
  std::vector<StoredRun> compared{};   // the runs to compare; empty: the report's own
  // What traces of a run hold besides its results: words, and steps for the explorer. Empty: no
  // traces are given.
  std::function<Result<std::vector<ExplorerTrace>>(const StoredRun&)> explored{};
  // How many traces, and how many evaluations, have a section and files of their own.
  std::size_t sections = 12;
  std::function<bool()> proceed{};  // asked before each figure; if false, nothing is written
};

// Writes the report of one run of a results file; run 0 stands for those of read_newest_runs().
// Returns the runs that it shows. The folder is written beside its target and moved there whole; an
// older report is replaced. Errors: those of read_run(), a target that holds anything but a report,
// no permission, a full disk.
Result<std::vector<RunSummary>> write_report(const std::string& results_path,
                                             std::int64_t run,
                                             const std::string& folder,
                                             const ReportExtras& extras = {});

}  // namespace kv::reports
