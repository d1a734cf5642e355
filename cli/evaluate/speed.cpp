#include "kvcheck/cli/evaluate/speed.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <ostream>
#include <utility>

#include "kvcheck/base/threads/machine.h"
#include "kvcheck/cli/evaluate/speed_rows.h"
#include "kvcheck/cli/model/model_memory.h"
#include "kvcheck/cli/model/model_options.h"
#include "kvcheck/cli/options/interrupt.h"
#include "kvcheck/cli/options/memory.h"
#include "kvcheck/cli/options/output_file.h"
#include "kvcheck/cli/options/progress.h"
#include "kvcheck/cli/options/result_outputs.h"
#include "kvcheck/cli/replay/replay_plan.h"
#include "kvcheck/cli/resume/resumable_run.h"
#include "kvcheck/cli/resume/run_inputs.h"
#include "kvcheck/reports/tables/timing_table.h"

namespace kv::cli {
namespace {

constexpr std::array<Option, 19> table = {{
    model_option,
    weights_option,
    policy_option,
    {.name = "budget",
     .value = "N,...",
     .help = "residents to keep after trimming, for policies whose spec names no budget"},
    {.name = "chunk",
     .value = "N",
     .help = "tokens of the prompt per forward pass, for specs that name no chunk [64]"},
    {.name = "length",
     .value = "N,...",
     .default_value = "256,512,1024",
     .help = "lengths of the prompt in tokens; each starts with an empty cache"},
    {.name = "tokens",
     .value = "N",
     .default_value = "32",
     .help = "tokens that are timed one by one after each prompt"},
    {.name = "runs",
     .value = "N",
     .default_value = "1",
     .help = "how many times everything is timed; kvcheck compare tests six runs or more"},
    {.name = "seed", .value = "N", .default_value = "1", .help = "the seed of policies that draw"},
    storage_option,
    keys_option,
    threads_option,
    memory_option,
    {.name = "output", .letter = 'o', .value = "FILE", .help = "add the run to this results file"},
    resume_option,
    {.name = "json", .value = "FILE", .help = "write JSON lines there; - is standard output"},
    {.name = "csv", .value = "FILE", .help = "write the table as CSV there; - is standard output"},
    {.name = "quiet", .letter = 'q', .help = "no progress"},
    {.name = "help", .letter = 'h', .help = "this text"},
}};

constexpr std::string_view help =
    "Times a real model under each policy, over growing lengths.\n"
    "\n"
    "Usage:  kvcheck speed --model PATH [--policy SPEC...] [OPTIONS]\n"
    "\n"
    "For each policy and length it prints the time to the first token (the whole prompt), the\n"
    "median time of a token after it, the part of that for attention (with the policy and the\n"
    "storing of keys and values), the bytes of keys and values, and the largest memory of the\n"
    "process. The mean time of a token is that of all --tokens by their number: a pause of the\n"
    "machine lengthens the mean, but not the median. Before the first timing, a chunk and a token\n"
    "are fed without being timed, so that no row waits for weights that are read for the first\n"
    "time. The tokens stand for no text; policies that use token classes get an even mixture of\n"
    "them.\n"
    "\n"
    "Other work on the machine changes the times. --runs times everything N times: a run has all\n"
    "policies at one length right after each other, then the next length, and every second run\n"
    "has the policies in the opposite order. The table then shows medians over the runs with the\n"
    "least and the most, the files hold every run, and kvcheck compare --measure attention_s "
    "tests\n"
    "whether policies differ, in pairs of the same run.\n"
    "\n"
    "{options}\n"
    "\n"
    "Examples:\n"
    "  kvcheck speed --model pythia-70m --policy dense \\\n"
    "      --policy 'streaming:sinks=4;positions=in-cache' --budget 256 --length 256,1024,2048\n"
    "  kvcheck speed --model model/data --policy window --budget 64 --chunk 64 -o run.db\n"
    "  kvcheck speed --model model/data --policy window --budget 64 --chunk 64 -o run.db --resume\n"
    "  kvcheck speed --model model/data --policy window --policy h2o --budget 64 --runs 8 -o "
    "run.db\n"
    "\n"
    "With -o, each row is kept beside the results file as soon as it is timed, even if the "
    "program\n"
    "is killed. The same command with --resume times only the rest; rows that were kept have the\n"
    "load of their own time.\n"
    "\n"
    "Exit status: 0 done, 2 usage or bad input, 130 interrupted.\n";

struct SpeedPlan {
  std::string path;
  std::string weights;  // how they are stored
  model::LanguageModel model;
  model::DecoderOptions options;
  SpeedRows rows;
  std::size_t threads = 1;
  std::string storage;
  std::string command;  // for the results file
  Outputs outputs;
  bool quiet = false;
  bool resume = false;
};

// The command without its outputs, which do not change what is measured.
std::string command_of_speed(const Arguments& arguments, std::size_t threads) {
  std::string out = "kvcheck speed";
  for (const std::string_view name : {"model", "weights", "policy", "budget", "chunk", "length",
                                      "tokens", "runs", "seed", "storage", "keys"}) {
    if (!arguments.given(name)) continue;
    for (const std::string& value : arguments.values(name)) {
      out += " --" + std::string(name) + " " + shell_word(value);
    }
  }
  return out + " --threads " + std::to_string(threads);
}

Result<SpeedPlan> plan_speed(const Arguments& arguments) {
  if (const auto none = arguments.expect_operands("operand", 0, 0); !none) return none.error();
  SpeedPlan plan;
  Result<std::vector<Cell>> cells = model_cells(arguments, {"dense"});
  if (!cells) return cells.error();
  plan.rows.cells = *std::move(cells);
  if (!arguments.given("chunk")) give_usual_chunks(plan.rows.cells);
  const Result<model::DecoderOptions> options = decoder_options(arguments);
  if (!options) return options.error();
  plan.options = *options;
  const auto lengths = arguments.counts("length", 1, std::uint64_t{1} << 24);
  if (!lengths) return lengths.error();
  plan.rows.lengths = *lengths;
  const auto tokens = arguments.count("tokens", 1, 1000000);
  if (!tokens) return tokens.error();
  plan.rows.tokens = tokens->value();
  const auto runs = arguments.count("runs", 1, 10000);
  if (!runs) return runs.error();
  plan.rows.runs = runs->value();
  plan.outputs = {.results = arguments.value("output"),
                  .json = arguments.value("json"),
                  .csv = arguments.value("csv"),
                  .markdown = {}};
  plan.quiet = arguments.given("quiet");
  plan.resume = arguments.given("resume");
  if (const auto fine = check_resume(arguments); !fine) return fine.error();
  if (arguments.given("output") && plan.outputs.results.empty()) {
    return usage_error("--output needs the name of a file");
  }
  const std::array<std::string, 1> inputs = {arguments.value("model")};
  if (auto fine = check_outputs(plan.outputs, inputs); !fine) return fine.error();
  plan.storage = storage_text(arguments, plan.options);
  const auto threads = threads_of(arguments);
  if (!threads) return threads.error();
  plan.threads = *threads;
  plan.options.team = std::make_shared<Team>(*threads);
  plan.command = command_of_speed(arguments, plan.threads);
  Result<model::LanguageModel> model = opened_weights(arguments);
  if (!model) return model.error();
  plan.path = arguments.value("model");
  plan.weights = arguments.value("weights");
  plan.model = *std::move(model);
  const std::size_t longest = *std::ranges::max_element(plan.rows.lengths) + plan.rows.tokens;
  const auto needs = decoder_needs(plan.model, plan.rows.cells, longest, 1);
  if (auto fits = check_memory(arguments, needs); !fits) return fits.error();
  return plan;
}

// `run` is null if nothing is stored.
Result<TimingResult> time_all(const SpeedPlan& plan, ResumableRun* run, Streams& streams) {
  const InterruptGuard guard;
  Progress progress(streams.err, streams.terminal && !plan.quiet);
  const auto all = static_cast<double>(plan.rows.count());
  auto cells = time_rows(plan.model, plan.options, plan.rows, run,
                         [&](std::size_t rows, const std::string& label) {
                           progress.update(static_cast<double>(rows) / all, label);
                         });
  if (!cells) return cells.error();
  return TimingResult{.model = plan.path,
                      .weights = plan.weights,
                      .weight_bytes = plan.model.weight_bytes(),
                      .storage = plan.storage,
                      .tokens = plan.rows.tokens,
                      .threads = plan.threads,
                      .cells = *std::move(cells)};
}

Result<void> write_outputs(const TimingResult& result, const Outputs& outputs, Streams& streams) {
  const std::string csv = reports::to_csv(reports::timing_rows(result));
  const std::string json = reports::timing_json(result);
  if (outputs.json == "-") {
    streams.out << json;
  } else if (outputs.csv == "-") {
    streams.out << csv;
  } else {
    streams.out << reports::timing_line(result) << "\n\n"
                << reports::to_text(reports::timing_table(result), streams.columns);
  }
  streams.out << std::flush;
  if (!outputs.json.empty() && outputs.json != "-") {
    if (auto written = write_output(outputs.json, json); !written) return written;
  }
  if (outputs.csv.empty() || outputs.csv == "-") return {};
  return write_output(outputs.csv, csv);
}

// The run is begun before anything is timed, so that errors of the file are reported at once.
Result<void> time_and_write(const SpeedPlan& plan, Streams& streams) {
  if (plan.outputs.results.empty()) {
    const Result<TimingResult> result = time_all(plan, nullptr, streams);
    if (!result) return result.error();
    return write_outputs(*result, plan.outputs, streams);
  }
  auto items = items_of_path("model", plan.path);
  if (!items) return items.error();
  auto run = ResumableRun::begin({.results = plan.outputs.results,
                                  .command = plan.command,
                                  .items = *std::move(items),
                                  .resume = plan.resume,
                                  .quiet = plan.quiet},
                                 streams.err);
  if (!run) return run.error();
  const Result<TimingResult> result = time_all(plan, run->get(), streams);
  if (!result) {
    Error error = result.error();
    interrupted() ? (*run)->end() : (*run)->end(error);
    error.message += (*run)->kept_words();
    return error;
  }
  if (auto added = (*run)->writer().add(*result); !added) return (*run)->not_stored(added.error());
  // The run is complete when all outputs are: a kill before that leaves a run that --resume ends.
  const Result<void> written = write_outputs(*result, plan.outputs, streams);
  if (auto done = (*run)->finish(); !done) return (*run)->not_stored(done.error());
  return written;
}

Result<void> run(std::span<const std::string> given, Streams& streams) {
  const Result<Arguments> arguments = Arguments::parse(table, given);
  if (!arguments) return arguments.error();
  const Result<SpeedPlan> plan = plan_speed(*arguments);
  if (!plan) return plan.error();
  if (const std::size_t cores = machine_threads(); plan->threads > cores && !plan->quiet) {
    streams.err << "Note: " << plan->threads << " threads share the "
                << (cores == 1 ? "one core" : std::to_string(cores) + " cores")
                << " that kvcheck may use, which makes every time longer.\n";
  }
  return time_and_write(*plan, streams);
}

}  // namespace

constinit const Command speed_command = {
    .name = "speed",
    .summary = "time a real model under each policy, over growing lengths",
    .help = help,
    .run = done_unless_error<run>,
    .options = table,
};

}  // namespace kv::cli
