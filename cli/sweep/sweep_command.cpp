#include "kvcheck/cli/sweep/sweep_command.h"

#include <array>
#include <filesystem>
#include <optional>
#include <ostream>
#include <utility>

#include "kvcheck/base/text/printable.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/base/threads/machine.h"
#include "kvcheck/cli/options/interrupt.h"
#include "kvcheck/cli/options/progress.h"
#include "kvcheck/cli/ranks/ranks.h"
#include "kvcheck/cli/sweep/estimate.h"
#include "kvcheck/cli/sweep/follow_rank.h"
#include "kvcheck/cli/sweep/late_blocks.h"
#include "kvcheck/cli/sweep/lead_ranks.h"
#include "kvcheck/cli/sweep/reuse.h"
#include "kvcheck/cli/sweep/run_blocks.h"
#include "kvcheck/reports/sweeps/sweep_file.h"

namespace kv::cli {
namespace {

constexpr std::array<Option, 7> table = {{
    {.name = "output", .letter = 'o', .value = "FILE", .help = "keep the cells in this file"},
    {.name = "shard",
     .value = "I/N",
     .help = "run only part I of N parts of the plan, which kvcheck merge joins"},
    {.name = "dry-run",
     .help = "check the plan, and print how many cells, time, memory and disk it needs; with -o "
             "those that the plan's run in FILE lacks"},
    {.name = "threads",
     .value = "N",
     .help = "threads to use, 1 to 1024 [all that it may use; under mpirun its share of the "
             "machine]; results do not depend on it"},
    memory_option,
    {.name = "quiet", .letter = 'q', .help = "no progress and no closing summary"},
    {.name = "help", .letter = 'h', .help = "this text"},
}};

constexpr std::string_view help =
    "Runs every cell of a plan on all cores: each trace or text with each policy.\n"
    "\n"
    "Usage:  kvcheck sweep PLAN -o FILE [OPTIONS]\n"
    "\n"
    "PLAN is a JSON file, which docs/sweeps.md describes:\n"
    "  {\"replay\": {\"traces\": [\"a.safetensors\", \"synthetic:zipf:tokens=512\"],\n"
    "              \"policies\": [\"h2o\", \"@streaming-llm\"],\n"
    "              \"budgets\": [64, 128],\n"
    "              \"seeds\": 20}}\n"
    "  {\"eval\": {\"model\": \"model/data\", \"texts\": [\"a.txt\", \"b.txt\"], \"windows\": "
    "[256],\n"
    "            \"policies\": [\"dense\", \"h2o\"], \"budgets\": [64], \"open-loop\": true}}\n"
    "  {\"tasks\": {\"model\": \"model/data\", \"files\": [\"items.jsonl\"],\n"
    "             \"policies\": [\"dense\", \"@snapkv-prompt\", \"h2o\"], \"budgets\": [64]}}\n"
    "  {\"speed\": {\"model\": \"model/data\", \"lengths\": [256, 1024], \"runs\": 8,\n"
    "             \"policies\": [\"dense\", \"h2o\"], \"budgets\": [64]}}\n"
    "\n"
    "A cell is on the disk as soon as it is finished. The same command runs only the cells that\n"
    "the file does not hold, however the run before it ended, and the tables of the complete\n"
    "file are the same for any number of interruptions, threads and shards. A longer plan in the\n"
    "same file begins a run of its own and takes over the cells that are already there. Cells\n"
    "of \"speed\" are timed one by one with nothing beside, and times are never the same twice.\n"
    "\n"
    "The file holds a summary of each cell: of a replay means over heads, and sizes over units.\n"
    "\"detail\": \"heads\" keeps each head and unit, and \"series\" also the course over the "
    "stream.\n"
    "\n"
    "mpirun starts several ranks, on one machine or many, which share the work (docs/sweeps.md).\n"
    "\n"
    "{options}\n"
    "\n"
    "Examples:\n"
    "  kvcheck sweep plan.json --dry-run\n"
    "  kvcheck sweep plan.json -o run.db\n"
    "  kvcheck report run.db -o report\n"
    "  kvcheck sweep plan.json --shard 1/2 -o a.db\n"
    "  mpirun -n 8 kvcheck sweep plan.json -o run.db\n"
    "\n"
    "Exit status: 0 all cells of the plan, or of the shard, are in the file; 2 the plan or a file\n"
    "is wrong, in which case no cell was run; 130 interrupted.\n";

std::string counted(std::size_t count, const std::string& thing) {
  return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

// Everything that the arguments say.
struct Request {
  Ranks* ranks = nullptr;  // null if the process was started alone
  SweepPlan plan;
  std::vector<SweepBlock> blocks;  // of the shard
  Shard shard;
  std::string output;
  std::size_t threads = 1;
  bool quiet = false;
};

// What a block needs, in each of the ranks of this machine.
std::vector<MemoryNeed> needs_of(const Request& request) {
  auto needs = sweep_needs(request.plan, request.blocks, request.threads);
  if (request.ranks == nullptr) return needs;
  for (MemoryNeed& need : needs) need.bytes *= request.ranks->on_this_machine();
  return needs;
}

Result<Request> request_of(const Arguments& arguments,
                           Ranks* ranks,
                           const ReadingProgress& progress) {
  if (const auto one = arguments.expect_operands("a PLAN", 1, 1); !one) return one.error();
  Request request;
  request.ranks = ranks;
  request.output = arguments.value("output");
  request.quiet = arguments.given("quiet");
  if (request.output.empty() && !arguments.given("dry-run")) {
    return usage_error("no -o FILE is given; expected the file that keeps the cells, or --dry-run");
  }
  const auto threads = arguments.count("threads", 1, 1024);
  if (!threads) return threads.error();
  request.threads = threads->value_or(ranks == nullptr ? machine_threads() : threads_of(*ranks));
  if (arguments.given("shard")) {
    const auto shard = shard_of(arguments.value("shard"));
    if (!shard) return shard.error();
    request.shard = *shard;
  }
  auto plan = plan_sweep(arguments.operands()[0], progress);
  if (!plan) return plan.error();
  request.plan = *std::move(plan);
  request.blocks = blocks_of(request.shard, make_blocks(request.plan));
  if (const auto fits = check_memory(arguments, needs_of(request)); !fits) return fits.error();
  return request;
}

Result<void> print_estimate(Request& request, Streams& streams) {
  const auto held = leave_out_held(request.output, request.plan, request.blocks);
  if (!held) return held.error();
  std::uint64_t memory = 0;
  for (const MemoryNeed& need : needs_of(request)) memory += need.bytes;
  const bool timed = request.plan.work->timed();
  const std::size_t ranks = request.ranks == nullptr || timed ? 1 : request.ranks->count();
  const std::size_t threads = timed ? request.plan.text.times.threads : request.threads;
  const auto seconds = sweep_seconds(request.plan, request.blocks, ranks * threads);
  if (!seconds) return seconds.error();
  streams.out << "Cells:   " << cells_in(request.blocks);
  if (request.shard.count > 1) {
    streams.out << " of " << request.plan.identity.total << ", in shard " << request.shard.number
                << " of " << request.shard.count;
  } else {
    streams.out << ", on " << source_words(request.plan.text);
  }
  const std::string more = *held > 0 ? " more" : "";
  const auto bytes =
      sweep_bytes(request.plan, request.blocks) - (*held > 0 ? sweep_bytes(request.plan, {}) : 0);
  if (*held > 0)
    streams.out << ", beside " << *held << " in '" << printable_line(request.output) << "'";
  streams.out << "\nTime:    about " << clock_text(*seconds) << " on " << counted(threads, "thread")
              << (ranks > 1 ? " of each of " + counted(ranks, "rank") : "")
              << " of an idle machine\n"
              << "Memory:  at most " << size_text(memory) << "\n"
              << "File:    about " << size_text(bytes) << more << "\n";
  return {};
}

void say_notes(const SweepPlan& plan, Streams& streams) {
  for (const std::string& note : plan.notes) {
    streams.err << "Note: " << printable_line(note) << ".\n";
  }
  for (const std::string& words : plan.left_out) {
    streams.err << printable_line(words) << ". \"strict\": true makes this an error.\n";
  }
}

// What is in the file at the end, or was when the work was cut short.
std::string held_words(const Request& request, std::size_t held) {
  return printable_line("'" + request.output + "' holds " + std::to_string(held) + " of " +
                        counted(request.plan.identity.total, "cell") + " of the plan");
}

// Runs the blocks here, or on all ranks. Says what happened to ranks.
Result<void> run_pending(const Request& request,
                         std::span<const SweepBlock> pending,
                         const BlockHooks& hooks,
                         Followers* followers,
                         const LedSweep::Say& say) {
  // Ranks on one machine would be work beside what is timed, and another machine is another speed.
  if (followers == nullptr || request.plan.work->timed()) {
    return run_blocks(request.plan, pending, request.threads, hooks);
  }
  LedSweep sweep(*followers, request.plan, pending, hooks, say);
  auto done = sweep.run(request.threads);
  const auto [least, most] = sweep.cells_by_rank();
  if (!request.quiet) {
    say(std::to_string(request.ranks->count()) + " ranks ran " + std::to_string(least) + " to " +
        std::to_string(most) + " cells each.");
  }
  return done;
}

Result<void> run_request(Request& request, Followers* followers, Streams& streams) {
  auto file = reports::SweepFile::open(request.output, request.plan.identity);
  if (!file) return file.error();
  const InterruptGuard guard;
  Progress shown(streams.err, streams.terminal && !request.quiet);
  const auto held = [&](const reports::SweepPlace& place) { return file->holds(place); };
  const std::size_t before = file->held();
  auto pending = blocks_without(request.blocks, request.plan, held);
  auto reused = reuse_earlier(request.plan, pending, *file);
  if (!reused) return reused.error();
  pending = blocks_without(std::move(pending), request.plan, held);
  LateBlocks late(*file, request.plan.work->timed());
  const BlockHooks hooks{.done = [&](const FinishedBlock& finished) { return late.add(finished); },
                         .progress =
                             [&](double share, const std::string& trace) {
                               shown.update(share, printable_line(trace));
                               return !interrupted();
                             }};
  const std::size_t to_run = cells_in(pending);
  const auto say = [&](const std::string& sentence) {
    shown.clear();
    streams.err << sentence << "\n";
  };
  auto done = run_pending(request, pending, hooks, followers, say);
  // Also after an error: what is finished is kept.
  const auto stored = late.store();
  if (done && !stored) done = stored;
  shown.clear();
  if (!done) {
    Error error = done.error();
    if (interrupted()) error = io_error("interrupted");
    if (file->held() == 0) {
      file->discard();
      error.message += "; no cell was finished";
      return error;
    }
    // Removed while it was open.
    if (!std::filesystem::exists(request.output)) return error;
    error.message +=
        "; " + held_words(request, file->held()) + ", and the same command continues from there";
    return error;
  }
  const auto complete = file->finish();
  if (!complete) return complete.error();
  if (request.quiet) return {};
  streams.out << held_words(request, file->held()) << ": " << to_run << " were run, " << *reused
              << " were taken from earlier runs, " << before << " were there.\n";
  if (*complete) {
    streams.out << "Next: kvcheck report " << shell_word(request.output) << " -o report\n";
  }
  return {};
}

Result<void> run_alone_or_first(const Arguments& arguments, Ranks* ranks, Streams& streams) {
  // The other ranks wait until rank 0 says that it has ended, with or without an error.
  std::optional<Followers> followers;
  if (ranks != nullptr) followers.emplace(*ranks);
  Progress reading(streams.err, streams.terminal && !arguments.given("quiet"));
  auto request = request_of(arguments, ranks, [&](const std::string& source, double share) {
    reading.update(share, "reading " + source);
  });
  reading.clear();
  if (!request) return request.error();
  if (!request->quiet) say_notes(request->plan, streams);
  if (arguments.given("dry-run")) return print_estimate(*request, streams);
  return run_request(*request, followers ? &*followers : nullptr, streams);
}

// Rank 0 prints what is wrong with the arguments and the plan.
void run_as_follower(const Arguments& arguments, Ranks& ranks) {
  const auto request = request_of(arguments, &ranks, {});
  if (!request) return refuse_rank(ranks, request.error().message);
  const InterruptGuard guard;
  follow_rank(ranks, request->plan, request->threads);
}

Result<void> run(std::span<const std::string> words, Streams& streams) {
  const Result<Arguments> arguments = Arguments::parse(table, words);
  if (!arguments) return arguments.error();
  const auto ranks = join_ranks();
  if (!ranks) return ranks.error();
  if (*ranks == nullptr || (*ranks)->rank() == 0) {
    return run_alone_or_first(*arguments, ranks->get(), streams);
  }
  run_as_follower(*arguments, **ranks);
  return {};
}

}  // namespace

constinit const Command sweep_command = {
    .name = "sweep",
    .summary =
        "run every cell of a plan on all cores: each trace or text with each policy, budget and "
        "seed",
    .help = help,
    .run = done_unless_error<run>,
    .options = table,
};

}  // namespace kv::cli
