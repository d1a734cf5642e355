#include "kvcheck/cli/evaluate/speed.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <ostream>
#include <utility>

#include "kvcheck/cli/evaluate/evaluate_parts.h"
#include "kvcheck/cli/evaluate/speed_run.h"
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

constexpr std::array<Option, 18> table = {{
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
    "process. The tokens stand for no text; policies that use token classes get an even mixture\n"
    "of them. Other work on the machine changes the times, so compare rows of one run only.\n"
    "\n"
    "{options}\n"
    "\n"
    "Examples:\n"
    "  kvcheck speed --model pythia-70m --policy dense \\\n"
    "      --policy 'streaming:sinks=4;positions=in-cache' --budget 256 --length 256,1024,2048\n"
    "  kvcheck speed --model model/data --policy window --budget 64 --chunk 64 -o run.db\n"
    "  kvcheck speed --model model/data --policy window --budget 64 --chunk 64 -o run.db --resume\n"
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
  std::vector<Cell> cells;
  model::DecoderOptions options;
  std::vector<std::uint64_t> lengths;
  std::size_t tokens = 0;
  std::size_t threads = 1;
  std::string storage;
  std::string command;  // for the results file
  Outputs outputs;
  bool quiet = false;
  bool resume = false;
};

// A prompt that is read token by token takes 6 to 12 times as long, and other programs read it in
// chunks too. A few specs allow no chunk but 1.
void give_chunks(const Arguments& arguments, std::vector<Cell>& cells) {
  constexpr std::uint32_t usual_chunk = 64;
  if (arguments.given("chunk")) return;
  for (Cell& cell : cells) {
    if (cell.spec.chunk != 1) continue;
    Spec chunked = cell.spec;
    chunked.chunk = usual_chunk;
    if (parse_spec(chunked.canonical())) cell.spec = chunked;
  }
}

// The command without its outputs, which do not change what is measured.
std::string command_of_speed(const Arguments& arguments, std::size_t threads) {
  std::string out = "kvcheck speed";
  for (const std::string_view name : {"model", "weights", "policy", "budget", "chunk", "length",
                                      "tokens", "seed", "storage", "keys"}) {
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
  plan.cells = *std::move(cells);
  give_chunks(arguments, plan.cells);
  const Result<model::DecoderOptions> options = decoder_options(arguments);
  if (!options) return options.error();
  plan.options = *options;
  const auto lengths = arguments.counts("length", 1, std::uint64_t{1} << 24);
  if (!lengths) return lengths.error();
  plan.lengths = *lengths;
  const auto tokens = arguments.count("tokens", 1, 1000000);
  if (!tokens) return tokens.error();
  plan.tokens = tokens->value();
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
  const std::size_t longest = *std::ranges::max_element(plan.lengths) + plan.tokens;
  const auto needs = decoder_needs(plan.model, plan.cells, longest, 1);
  if (auto fits = check_memory(arguments, needs); !fits) return fits.error();
  return plan;
}

// `run` is null if nothing is stored.
Result<TimingResult> time_all(const SpeedPlan& plan, ResumableRun* run, Streams& streams) {
  const InterruptGuard guard;
  Progress progress(streams.err, streams.terminal && !plan.quiet);
  TimingResult result{.model = plan.path,
                      .weights = plan.weights,
                      .weight_bytes = plan.model.weight_bytes(),
                      .storage = plan.storage,
                      .tokens = plan.tokens,
                      .threads = plan.threads};
  const std::size_t all = plan.cells.size() * plan.lengths.size();
  for (const Cell& cell : plan.cells) {
    for (const std::uint64_t length : plan.lengths) {
      const std::size_t done = result.cells.size();
      progress.update(static_cast<double>(done) / static_cast<double>(all), cell.spec.label());
      const std::string key = "row " + std::to_string(done);
      if (run != nullptr) {
        if (auto kept = kept_row(*run, key, cell, length)) {
          result.cells.push_back(*std::move(kept));
          continue;
        }
      }
      Result<TimedCell> timed = time_decoder(plan.model, cell, plan.options, length, plan.tokens);
      if (interrupted()) {
        return io_error("interrupted after " + std::to_string(done) + " of " + std::to_string(all) +
                        " rows");
      }
      if (!timed) {
        return Error{timed.error().kind, cell.spec.label() + ": " + timed.error().message};
      }
      if (run != nullptr) run->keep({{key, bytes_of(*timed)}});
      result.cells.push_back(*std::move(timed));
    }
  }
  return result;
}

Result<void> write_outputs(const TimingResult& result, const Outputs& outputs, Streams& streams) {
  const reports::Table timed = reports::timing_table(result);
  const std::string json = reports::timing_json(result);
  if (outputs.json == "-") {
    streams.out << json;
  } else if (outputs.csv == "-") {
    streams.out << reports::to_csv(timed);
  } else {
    streams.out << reports::timing_line(result) << "\n\n"
                << reports::to_text(timed, streams.columns);
  }
  streams.out << std::flush;
  if (!outputs.json.empty() && outputs.json != "-") {
    if (auto written = write_output(outputs.json, json); !written) return written;
  }
  if (outputs.csv.empty() || outputs.csv == "-") return {};
  return write_output(outputs.csv, reports::to_csv(timed));
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
