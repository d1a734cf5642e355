#include "kvcheck/cli/replay/replay.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <ostream>
#include <utility>
#include <vector>

#include "kvcheck/base/text/printable.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/cli/options/interrupt.h"
#include "kvcheck/cli/options/memory.h"
#include "kvcheck/cli/options/output_file.h"
#include "kvcheck/cli/options/progress.h"
#include "kvcheck/cli/options/terminal.h"
#include "kvcheck/cli/replay/kv_heads.h"
#include "kvcheck/cli/replay/marks.h"
#include "kvcheck/cli/replay/replay_plan.h"
#include "kvcheck/cli/replay/result_text.h"
#include "kvcheck/cli/replay/sweep.h"
#include "kvcheck/cli/resume/resumable_run.h"
#include "kvcheck/cli/resume/run_inputs.h"
#include "kvcheck/reports/tables/export.h"
#include "kvcheck/reports/tables/summary_table.h"
#include "kvcheck/sim/replay/replay.h"
#include "kvcheck/sim/replay/serves.h"

namespace kv::cli {
namespace {

constexpr std::array<Option, 22> table = {{
    {.name = "policy",
     .value = "SPEC",
     .help = "a policy with its fields, or a preset (@name), or all: every policy at its defaults",
     .list = true},
    {.name = "budget",
     .value = "N,...",
     .help = "residents to keep after trimming, for policies whose spec names no budget; "
             "several make a sweep"},
    {.name = "seed", .value = "N", .default_value = "1", .help = "the seed of policies that draw"},
    {.name = "seeds", .value = "N", .help = "run policies that draw with the seeds 1 to N instead"},
    {.name = "chunk",
     .value = "N",
     .help = "tokens per forward pass, for specs that name no chunk"},
    prompt_option,
    question_option,
    {.name = "top-k",
     .value = "K",
     .default_value = "16",
     .help = "how many of a row's heaviest keys the overlap compares; 0: it is not measured"},
    {.name = "oracle",
     .help = "also compute the most that any cache of the same sizes could retain, and each "
             "policy's share of it; without --policy, for all policies"},
    {.name = "oracle-tokens",
     .value = "N",
     .default_value = "2048",
     .help = "the longest trace whose optimum is computed; longer ones get a looser bound"},
    {.name = "strict",
     .help = "end with an error if a trace is shorter than a budget; otherwise that budget is left "
             "out of that trace"},
    {.name = "threads",
     .value = "N",
     .help = "threads to use, 1 to 1024 [all that it may use]; results do not depend on it"},
    kv_heads_option,
    learned_sinks_option,
    memory_option,
    {.name = "output", .letter = 'o', .value = "FILE", .help = "add the run to this results file"},
    resume_option,
    {.name = "json", .value = "FILE", .help = "write JSON lines there; - is standard output"},
    {.name = "csv", .value = "FILE", .help = "write CSV there; - is standard output"},
    {.name = "per-head",
     .help = "in JSON and CSV, after each cell also write its layers and heads"},
    {.name = "quiet", .letter = 'q', .help = "no progress and no closing summary"},
    {.name = "help", .letter = 'h', .help = "this text"},
}};

constexpr std::string_view help =
    "Replays recorded attention through policies, and prints and stores what they lose.\n"
    "\n"
    "Usage:  kvcheck replay TRACE... --policy SPEC... [OPTIONS]\n"
    "\n"
    "TRACE is a trace file (safetensors, .npy or .npz; see kvcheck trace --help) or a synthetic\n"
    "stream, synthetic:NAME[:FIELD=VALUE,...] (see kvcheck trace generate --help). Every trace\n"
    "is read once and fed to every cell: each policy, at each budget, with each seed. Policies\n"
    "that draw nothing run with one seed only, and dense at one budget only. The replay is open\n"
    "loop: attention was recorded while nothing was evicted and does not react to evictions.\n"
    "\n"
    "{options}\n"
    "\n"
    "Specs:\n"
    "  A SPEC is a policy's name, its fields after a ':', and the cache's settings, each after a\n"
    "  ';' (which a shell needs in quotes). A field or setting that is left out has its default;\n"
    "  --budget and --chunk change those of budget and chunk. @NAME is a preset, a published\n"
    "  system as a spec; fields and settings after it override its own.\n"
    "    h2o\n"
    "    reservoir:sinks=4,recent=28,budget=64\n"
    "    '@streaming-llm:budget=128;timing=lazy:64'\n"
    "  kvcheck policies lists all names, kvcheck policies NAME the fields of one and the "
    "settings.\n"
    "\n"
    "Examples:\n"
    "  kvcheck replay trace.safetensors --policy all --budget 64,128\n"
    "  kvcheck replay trace.safetensors --policy streaming:sinks=4 --policy h2o:sinks=4 \\\n"
    "      --budget 64,128,256 -o run.db\n"
    "  kvcheck replay trace.safetensors --policy reservoir --budget 64 --seeds 20 --json -\n"
    "  kvcheck replay synthetic:zipf:tokens=512 --policy all --budget 64\n"
    "  kvcheck replay trace.safetensors --prompt 256 --policy @snapkv-prompt:ratio=0.25 \\\n"
    "      --policy 'h2o:ratio=0.25;compress=prompt'\n"
    "  kvcheck replay synthetic:zipf:tokens=512 --budget 64 --oracle\n"
    "  kvcheck replay a.safetensors b.safetensors --policy all --budget 64 -o run.db --resume\n"
    "\n"
    "If interrupted (Ctrl-C or SIGTERM), it keeps the finished traces in the results file as an\n"
    "incomplete run, writes no JSON or CSV, and exits with status 130. With -o, what is done (a\n"
    "policy with budget and seed on a group of heads, an optimum of --oracle) is kept beside the\n"
    "results file as soon as it ends, even if the program is killed. The same command with\n"
    "--resume computes only the rest, and all outputs are those of an uninterrupted run.\n";

// Rows times their length, over all heads: the time of a replay is proportional to it.
double work_of(const Trace& trace) {
  const TraceInfo& info = trace.info();
  const auto tokens = static_cast<double>(info.tokens);
  return static_cast<double>(info.layers.size() * info.query_heads) * tokens * tokens;
}

// One run: replays the traces one after another and writes the results of each when it is done.
class Run {
 public:
  Run(const ReplayPlan& plan, Streams& streams)
      : plan_(plan), streams_(streams), progress_(streams.err, streams.terminal && !plan.quiet) {
    for (const Trace& trace : plan.traces) total_ += work_of(trace);
  }

  Result<void> all() {
    const InterruptGuard guard;
    if (Result<void> begun = begin(); !begun) return begun;
    for (const Trace& trace : plan_.traces) {
      if (interrupted()) return stopped();
      if (Result<void> done = guarded(trace); !done) {
        return interrupted() ? done.error() : failed(done.error());
      }
    }
    progress_.clear();
    return finish();
  }

 private:
  Result<void> begin() {
    if (plan_.outputs.results.empty()) return {};
    RunToKeep run{.results = plan_.outputs.results,
                  .command = plan_.command,
                  .items = {},
                  .resume = plan_.resume,
                  .quiet = plan_.quiet};
    for (const Trace& trace : plan_.traces) {
      run.items.push_back(input_item("trace", trace.info().name, trace.info().checksum));
    }
    auto begun = ResumableRun::begin(run, streams_.err);
    if (!begun) return begun.error();
    run_ = *std::move(begun);
    return {};
  }

  // Calls one() and leaves no empty run behind if it throws, for example for lack of memory.
  Result<void> guarded(const Trace& trace) {
    try {
      return one(trace);
    } catch (...) {
      if (run_ == nullptr) throw;
      run_->end();
      run_->note_kept();
      throw;
    }
  }

  Result<void> one(const Trace& trace) {
    const double share = total_ > 0 ? work_of(trace) / total_ : 0;
    ReplayOptions options = plan_.options;
    options.progress = [&](double done) {
      progress_.update(before_ + share * done, printable_line(trace.info().name));
      return !interrupted();
    };
    PartsUnder parts(run_.get(), "trace " + std::to_string(finished_));
    options.parts = run_ == nullptr ? nullptr : &parts;
    std::vector<Cell> cells;
    std::ranges::copy_if(plan_.cells, std::back_inserter(cells), [&](const Cell& cell) {
      return check_serves(trace, cell.spec).has_value() && fits(cell.spec, trace.info());
    });
    const Result<ReplayResult> result = replay(trace, cells, options);
    progress_.clear();
    if (!result) return interrupted() ? stopped() : result.error();
    before_ += share;
    ++finished_;
    return keep(*result);
  }

  Result<void> keep(const ReplayResult& result) {
    if (run_ != nullptr) {
      if (Result<void> added = run_->writer().add(result); !added) return added;
    }
    if (!plan_.outputs.json.empty()) json_ += reports::json_lines(result, plan_.per_head);
    if (!plan_.outputs.csv.empty()) csv_ += csv_text(result, plan_.per_head, csv_.empty());
    if (plan_.outputs.on_standard_output()) return {};
    if (finished_ > 1) streams_.out << '\n';
    streams_.out << folded(head_line(result.trace), streams_.columns)
                 << folded(reports::summary_text(result, streams_.columns), streams_.columns)
                 << std::flush;
    return {};
  }

  // The run is complete when all outputs are: a kill before that leaves a run that --resume ends.
  Result<void> finish() {
    Result<void> written = write(plan_.outputs.json, json_);
    if (written) written = write(plan_.outputs.csv, csv_);
    if (written && !plan_.quiet) say_where();
    streams_.out << std::flush;
    if (run_ == nullptr) return written;
    if (const Result<void> done = run_->finish(); !done) return failed(done.error());
    return written;
  }

  Result<void> write(const std::string& path, const std::string& text) {
    if (path.empty()) return {};
    if (path != "-") return write_output(path, text);
    streams_.out << text;
    return {};
  }

  void say_where() {
    const std::string where = where_lines(plan_.outputs);
    if (where.empty()) return;
    if (plan_.outputs.on_standard_output()) {
      streams_.err << where;
    } else {
      streams_.out << '\n' << where;
    }
  }

  // A run without a whole trace is discarded; finished traces are kept, because they took long to
  // compute.
  Error failed(Error error) {
    if (run_ == nullptr) return error;
    run_->end(error);
    if (run_->writer().traces() > 0) {
      error.message +=
          "; '" + plan_.outputs.results + "' holds what was done before as an " + "incomplete run";
    }
    error.message += run_->kept_words();
    return error;
  }

  Error stopped() {
    progress_.clear();
    std::string arguments = "interrupted after " + std::to_string(finished_) + " of " +
                            std::to_string(plan_.traces.size()) + " traces";
    if (run_ != nullptr && finished_ > 0) {
      arguments += "; '" + plan_.outputs.results + "' holds them as an incomplete run";
    } else if (run_ != nullptr) {
      arguments += "; '" + plan_.outputs.results + "' holds an empty, incomplete run";
    }
    if (run_ != nullptr) arguments += run_->kept_words();
    return io_error(arguments);
  }

  const ReplayPlan& plan_;
  Streams& streams_;
  Progress progress_;
  std::unique_ptr<ResumableRun> run_;  // null without -o
  std::string json_;
  std::string csv_;
  double total_ = 0;
  double before_ = 0;  // the share of the work done by the traces before this one
  std::size_t finished_ = 0;
};

Result<void> run(std::span<const std::string> arguments, Streams& streams) {
  const Result<Arguments> parsed = Arguments::parse(table, arguments);
  if (!parsed) return parsed.error();
  Progress reading(streams.err, streams.terminal && !parsed->given("quiet"));
  const Result<ReplayPlan> plan = plan_replay(
      *parsed,
      [&](const std::string& source, double share) { reading.update(share, "reading " + source); });
  reading.clear();
  if (!plan) return plan.error();
  say_notes(*plan, streams);
  return Run(*plan, streams).all();
}

}  // namespace

constinit const Command replay_command = {
    .name = "replay",
    .summary = "replay recorded attention through policies; print and store what they lose",
    .help = help,
    .run = done_unless_error<run>,
    .options = table,
};

}  // namespace kv::cli
