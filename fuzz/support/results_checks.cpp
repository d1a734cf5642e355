#include "kvcheck/fuzz/support/results_checks.h"

#include <array>
#include <filesystem>
#include <utility>
#include <vector>

#include "kvcheck/base/check.h"
#include "kvcheck/fuzz/support/inputs.h"
#include "kvcheck/reports/figures/figures.h"
#include "kvcheck/reports/store/results.h"
#include "kvcheck/reports/store/results_file.h"
#include "kvcheck/reports/sweeps/sweep_runs.h"
#include "kvcheck/reports/tables/bounds_table.h"
#include "kvcheck/reports/tables/closed_loop_tables.h"
#include "kvcheck/reports/tables/comparison_table.h"
#include "kvcheck/reports/tables/export.h"
#include "kvcheck/reports/tables/loops_table.h"
#include "kvcheck/reports/tables/summary_table.h"
#include "kvcheck/reports/tables/task_tables.h"
#include "kvcheck/reports/tables/timing_table.h"
#include "kvcheck/traces/synthetic/synthetic.h"

namespace kv::fuzz {
namespace {

using reports::StoredRun;

std::vector<Cell> cells() {
  std::vector<Cell> all;
  for (const char* spec : {"dense", "window:budget=4", "h2o:budget=6", "random:budget=6"}) {
    all.push_back({.spec = parse_spec(spec).value(), .seed = 1});
  }
  return all;
}

ReplayResult small_replay() {
  const Trace trace = make_synthetic(parse_synthetic("zipf:tokens=16,heads=2").value());
  ReplayOptions options;
  options.threads = 1;
  options.top_k = 4;
  options.series_points = 4;
  options.oracle = true;
  return replay(trace, cells(), options).value();
}

ClosedLoopResult small_evaluation() {
  ClosedLoopResult result = {.model = "small",
                             .architecture = "llama",
                             .weight_bytes = 100,
                             .context = 64,
                             .text = "text.txt",
                             .checksum = 7,
                             .storage = "f32",
                             .window = 0,
                             .streams = 1,
                             .tokens = 17,
                             .longest = 17,
                             .segment = 8,
                             .series_width = 8,
                             .cells = {}};
  for (const Cell& cell : cells()) {
    ClosedLoopCell added;
    added.cell = cell;
    added.kv_bytes = 64;
    added.retained_mass = 0.5;
    added.series = {{.first = 0, .targets = 8, .nats = 16}, {.first = 8, .targets = 8, .nats = 4}};
    added.recall = recall_bins();
    added.recall[0].asked = 4;
    added.recall[0].right = 3;
    result.cells.push_back(added);
  }
  return result;
}

TimingResult small_timing() {
  TimingResult result = {.model = "small",
                         .weights = "f32",
                         .weight_bytes = 100,
                         .storage = "f32",
                         .tokens = 8,
                         .cells = {}};
  for (const Cell& cell : cells()) {
    result.cells.push_back({.cell = cell,
                            .length = 16,
                            .first_token_s = 0.5,
                            .token_s = 0.25,
                            .mean_token_s = 0.5,
                            .attention_s = 0.125,
                            .kv_bytes = 64,
                            .peak_bytes = 128,
                            .kernels = "avx2",
                            .processor = "a"});
  }
  return result;
}

TaskResult small_tasks() {
  TaskResult result;
  result.model = "small";
  result.architecture = "llama";
  result.file = "items.jsonl";
  result.storage = "f32";
  result.items = {{.id = "a", .group = "g", .context = 9, .question = 3, .answer = 1, .choices = 2},
                  {.id = "b", .group = "h", .context = 8, .question = 0, .answer = 2}};
  for (const Cell& cell : cells()) {
    TaskCell& added = result.cells.emplace_back();
    added.cell = cell;
    added.kv_bytes = 64;
    added.answers = {
        {.text = "red", .exact = true, .contains = true, .f1 = 1, .loss = 0.5, .rank = 1},
        {.text = "", .exact = false, .contains = false, .f1 = 0, .loss = 4, .rank = 0}};
  }
  return result;
}

std::string made_results() {
  std::string path = scratch_path("right-results");
  auto writer = reports::ResultsWriter::begin(path, "kvcheck replay").value();
  KV_CHECK(writer.add(small_replay()).has_value());
  KV_CHECK(writer.add(small_evaluation()).has_value());
  KV_CHECK(writer.add(small_timing()).has_value());
  KV_CHECK(writer.add(small_tasks()).has_value());
  KV_CHECK(writer.finish().has_value());
  return path;
}

// Everything that readers print of a run.
std::string text_of_run(const StoredRun& run) {
  std::string text;
  for (const ReplayResult& trace : run.traces) {
    text += reports::json_lines(trace, true) + reports::cells_csv(trace) +
            reports::heads_csv(trace) + reports::series_csv(trace);
  }
  for (const ClosedLoopResult& evaluation : run.evaluations) {
    text += reports::closed_loop_json(evaluation) + reports::closed_loop_series_csv(evaluation);
  }
  for (const TimingResult& timing : run.timings) {
    text += reports::to_csv(reports::timing_rows(timing));
  }
  for (const TaskResult& task : run.tasks) text += reports::task_json(task);
  return text;
}

void draw(const StoredRun& run) {
  for (const ReplayResult& trace : run.traces) {
    static_cast<void>(reports::summary_text(trace, 80));
    static_cast<void>(reports::bounds_text(trace, 80));
    static_cast<void>(reports::figures_of(trace));
  }
  for (const ClosedLoopResult& evaluation : run.evaluations) {
    static_cast<void>(reports::to_text(reports::perplexity_table(evaluation), 80));
    static_cast<void>(reports::to_html(reports::recall_table(evaluation)));
    if (!reports::has_open_loop(evaluation)) continue;
    static_cast<void>(reports::to_markdown(reports::loops_table(evaluation)));
    static_cast<void>(reports::loops_words(evaluation));
  }
  for (const TaskResult& task : run.tasks) {
    static_cast<void>(reports::to_text(reports::scores_table(task), 80));
    static_cast<void>(reports::to_html(reports::groups_table(task, "exact")));
    static_cast<void>(reports::task_line(task));
  }
  const std::vector<StoredRun> runs = {run};
  const reports::ComparedRuns compared = reports::runs_to_compare(runs);
  if (compared.open != nullptr) static_cast<void>(reports::comparison_table(compared));
}

void write_again(const StoredRun& run) {
  const std::string path = scratch_path("again");
  std::filesystem::remove(path);
  {
    auto writer = reports::ResultsWriter::begin(path, run.summary.command).value();
    for (const ReplayResult& trace : run.traces) KV_CHECK(writer.add(trace).has_value());
    for (const ClosedLoopResult& text : run.evaluations) KV_CHECK(writer.add(text).has_value());
    for (const TimingResult& timing : run.timings) KV_CHECK(writer.add(timing).has_value());
    for (const TaskResult& task : run.tasks) KV_CHECK(writer.add(task).has_value());
    KV_CHECK(writer.finish().has_value());
  }
  const Result<StoredRun> again = reports::read_run(path);
  KV_CHECK(again.has_value());
  KV_CHECK(text_of_run(*again) == text_of_run(run));
}

// What a sweep reads before it continues.
void try_sweeps(const std::string& path) {
  auto database = reports::open_to_read(path);
  if (!database) return static_cast<void>(refused(database.error()));
  const auto runs = reports::sweep_runs(*database);
  if (!runs) return static_cast<void>(refused(runs.error()));
  for (const reports::SweepRun& run : *runs) {
    const auto held = reports::held_cells(*database, run);
    if (!held) static_cast<void>(refused(held.error()));
  }
}

}  // namespace

std::string right_results(const std::string& name) {
  static const std::string right = made_results();
  std::string path = scratch_path(name);
  std::filesystem::copy_file(right, path, std::filesystem::copy_options::overwrite_existing);
  return path;
}

bool try_results(const std::string& path) {
  try_sweeps(path);
  const auto listed = reports::list_runs(path);
  if (!listed) return refused(listed.error());
  const auto newest = reports::read_newest_runs(path);
  if (!newest) static_cast<void>(refused(newest.error()));
  bool read = false;
  for (std::size_t i = 0; i < listed->size() && i < 4; ++i) {
    if ((*listed)[i].id == 0) continue;  // 0 asks for the newest run
    const Result<StoredRun> run = reports::read_run(path, (*listed)[i].id);
    if (!run) {
      static_cast<void>(refused(run.error()));
      continue;
    }
    read = true;
    KV_CHECK(run->traces.size() == (*listed)[i].traces);
    KV_CHECK(run->evaluations.size() == (*listed)[i].evaluations);
    KV_CHECK(run->timings.size() == (*listed)[i].timings);
    KV_CHECK(run->tasks.size() == (*listed)[i].tasks);
    draw(*run);
    write_again(*run);
  }
  return read;
}

}  // namespace kv::fuzz
