// One run of a model: computed in parts that a later run can use, stored, then written out.
#pragma once

#include <functional>
#include <string>

#include "kvcheck/base/error.h"
#include "kvcheck/base/kept_parts.h"
#include "kvcheck/cli/options/command.h"
#include "kvcheck/cli/resume/resumable_run.h"
#include "kvcheck/reports/store/results.h"

namespace kv::cli {

// Receives the share that is done and what is running, never from two threads at once. If it
// returns false, the run stops.
using WorkProgress = std::function<bool(double share, const std::string& what)>;

struct KeptWork {
  std::string results{};  // the results file; empty: nothing is kept
  bool quiet = false;

  // The command and its inputs. Called if there is a results file.
  std::function<Result<RunToKeep>()> about{};

  // `parts` is null without a results file.
  std::function<Result<void>(const WorkProgress& progress, PartStore* parts)> compute{};

  // What was computed enters the results file, then all other outputs are written.
  std::function<Result<void>(reports::ResultsWriter& writer)> store{};
  std::function<Result<void>()> write{};
};

// Errors: those of the work; an interruption, with what was kept. Leaves no empty run behind if the
// work throws, for example for lack of memory.
Result<void> run_kept(const KeptWork& work, Streams& streams);

// Writes a text to a file, or to standard output for "-". An empty path is not written.
Result<void> write_text(const std::string& path, const std::string& text, Streams& streams);

}  // namespace kv::cli
