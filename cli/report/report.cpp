#include "kvcheck/cli/report/report.h"

#include <array>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include "kvcheck/base/text/printable.h"
#include "kvcheck/cli/options/interrupt.h"
#include "kvcheck/cli/options/options.h"
#include "kvcheck/cli/report/explored_trace.h"
#include "kvcheck/cli/report/unfinished_runs.h"
#include "kvcheck/reports/explorer/explorer.h"
#include "kvcheck/reports/page/report.h"
#include "kvcheck/reports/store/results.h"
#include "kvcheck/reports/tables/comparison_table.h"

namespace kv::cli {
namespace {

constexpr std::array<Option, 9> table = {{
    {.name = "output", .letter = 'o', .value = "DIR", .help = "the folder to write the report to"},
    {.name = "run",
     .value = "ID",
     .help =
         "the run to show [the newest replay, evaluation, timing and answers, each of a run that "
         "finished if there is one]"},
    {.name = "trace",
     .value = "FILE",
     .help =
         "a trace of the run, or its synthetic:..., for its words: the text with what remains of "
         "it, and words, attention and scores in the explorer",
     .list = true},
    {.name = "compare",
     .value = "FILE.db",
     .help =
         "take the comparison (a replay, an evaluation and a timing of one model side by side, "
         "with a row per spec that they have in common) from the newest runs of this results file "
         "[RUN.db]"},
    {.name = "selftest",
     .value = "FILE",
     .help = "also show which mutants the laws kill; FILE is from kvcheck selftest --json"},
    {.name = "logs",
     .value = "DIR",
     .help =
         "also draw the logs of a model that another program ran: DIR/*.csv, one file per curve, "
         "with the columns input_length and nll",
     .list = true},
    {.name = "sections",
     .value = "N",
     .default_value = "12",
     .help = "at most N traces and N evaluations have a section and files of their own"},
    {.name = "list", .letter = 'l', .help = "list the runs in the file, and write no report"},
    {.name = "help", .letter = 'h', .help = "this text"},
}};

constexpr std::string_view help =
    "Writes a run's report: a page, figures and tables.\n"
    "\n"
    "Usage:  kvcheck report RUN.db -o DIR [OPTIONS]\n"
    "        kvcheck report RUN.db --list\n"
    "\n"
    "RUN.db is a results file that kvcheck replay, eval or speed wrote with -o. DIR/index.html\n"
    "needs no other file and no network. Beside it, one folder per trace or evaluation holds\n"
    "every figure as SVG, PNG and CSV and every table as CSV and Markdown. DIR must be new, "
    "empty,\n"
    "or an older report, which is replaced. Figures need gnuplot; without it the report has "
    "tables\n"
    "only, and says so.\n"
    "\n"
    "{options}\n"
    "\n"
    "Examples:\n"
    "  kvcheck report run.db -o report\n"
    "  kvcheck report run.db --trace traces/data/tinystories-2m.qkv.safetensors -o report\n"
    "  kvcheck report run.db --list\n"
    "  kvcheck report run.db --run 2 -o report-2\n"
    "  kvcheck selftest --json matrix.json; kvcheck report run.db --selftest matrix.json -o "
    "report\n"
    "  kvcheck report run.db --logs llama_2_7b --logs pythia_6.9b -o report\n";

std::string line_of(const reports::RunSummary& run) {
  const auto counted = [](std::size_t n, const char* noun) {
    return std::to_string(n) + " " + noun + (n == 1 ? "" : "s");
  };
  return "run " + std::to_string(run.id) + ", " + (run.complete ? "complete" : "incomplete") +
         (run.traces > 0 ? ", " + counted(run.traces, "trace") : "") +
         (run.evaluations > 0 ? ", " + counted(run.evaluations, "evaluation") : "") +
         (run.timings > 0 ? ", " + counted(run.timings, "timing") : "") +
         (run.tasks > 0 ? ", " + counted(run.tasks, "task file") : "") + ", " +
         counted(run.cells, "cell") + ", kvcheck " + printable_line(run.version) + ": " +
         printable_line(run.command) + "\n";
}

Result<void> list(const std::string& path, Streams& streams) {
  const auto runs = reports::list_runs(path);
  if (!runs) return runs.error();
  if (runs->empty()) streams.err << "'" << path << "' holds no runs\n";
  for (const reports::RunSummary& run : *runs) streams.out << line_of(run);
  return {};
}

Result<std::vector<reports::ExplorerTrace>> explored_traces(const std::vector<std::string>& words,
                                                            const reports::StoredRun& run) {
  std::vector<reports::ExplorerTrace> traces;
  for (const std::string& word : words) {
    auto trace = explored_trace(word, run, {});
    if (!trace) return trace.error();
    traces.push_back(*std::move(trace));
  }
  return traces;
}

Result<void> write(const Arguments& arguments, const std::string& path, Streams& streams) {
  const auto id = arguments.count("run", 1, std::numeric_limits<std::int64_t>::max());
  if (!id) return id.error();
  const std::string folder = arguments.value("output");
  if (folder.empty()) {
    return usage_error(
        "the report has no folder; name one with -o DIR, or list the runs with --list");
  }
  const auto run = static_cast<std::int64_t>((*id).value_or(0));
  reports::ReportExtras extras;
  for (const std::string& logs : arguments.values("logs")) {
    auto read = reports::read_loss_logs(logs);
    if (!read) return read.error();
    extras.logs.push_back(*std::move(read));
  }
  if (arguments.given("compare")) {
    auto compared = reports::read_newest_runs(arguments.value("compare"));
    if (!compared) return compared.error();
    if (reports::runs_to_compare(*compared).open == nullptr) {
      return usage_error(
          "'" + arguments.value("compare") +
          "' holds no replay and evaluation of one model with two specs in common; the "
          "replay's trace must be one that kvcheck record made of the model");
    }
    extras.compared = *std::move(compared);
  }
  reports::KillMatrix matrix;
  const std::string selftest = arguments.value("selftest");
  if (!selftest.empty()) {
    auto read = reports::read_kill_matrix(selftest);
    if (!read) return read.error();
    matrix = *std::move(read);
    extras.matrix = &matrix;
  }
  const auto sections = arguments.count("sections", 0, 1U << 20U);
  if (!sections) return sections.error();
  extras.sections = sections->value_or(extras.sections);
  extras.proceed = [] { return !interrupted(); };
  if (arguments.given("trace")) {
    extras.explored = [&arguments](const reports::StoredRun& stored) {
      return explored_traces(arguments.values("trace"), stored);
    };
  }
  const InterruptGuard guard;
  const auto done = reports::write_report(path, run, folder, extras);
  if (!done) return done.error();
  note_unfinished(path, *done, id->has_value(), streams.err);
  streams.out << "Report: " << folder << "/index.html\n";
  return {};
}

Result<void> run(std::span<const std::string> line, Streams& streams) {
  const auto arguments = Arguments::parse(table, line);
  if (!arguments) return arguments.error();
  const auto right = arguments->expect_operands("a results file", 1, 1);
  if (!right) return right.error();
  const std::string& path = arguments->operands()[0];
  if (!arguments->given("list")) return write(*arguments, path, streams);
  for (const std::string_view other :
       {"output", "run", "trace", "compare", "selftest", "logs", "sections"}) {
    if (arguments->given(other)) {
      return usage_error("--list and --" + std::string(other) +
                         " are both given; expected one of them");
    }
  }
  return list(path, streams);
}

}  // namespace

constinit const Command report_command = {
    .name = "report",
    .summary = "write a run's report: a page, figures and tables",
    .help = help,
    .run = done_unless_error<run>,
    .options = table,
};

}  // namespace kv::cli
