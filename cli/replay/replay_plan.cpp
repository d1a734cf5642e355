#include "kvcheck/cli/replay/replay_plan.h"

#include <algorithm>
#include <utility>

#include "kvcheck/base/text/text.h"
#include "kvcheck/cli/options/memory.h"
#include "kvcheck/cli/replay/kv_heads.h"
#include "kvcheck/cli/replay/marks.h"
#include "kvcheck/cli/replay/replay_memory.h"
#include "kvcheck/cli/replay/source.h"
#include "kvcheck/cli/replay/sweep.h"
#include "kvcheck/cli/resume/resumable_run.h"

namespace kv::cli {
namespace {

constexpr std::uint64_t max_u32 = 0xffffffff;

// Threads and outputs are left out: they do not change what is measured, and two runs with the same
// numbers should have the same command.
std::string command_of(const Arguments& arguments) {
  std::string out = "kvcheck replay";
  for (const std::string& operand : arguments.operands()) out += " " + shell_word(operand);
  for (const std::string_view name : {"policy", "budget", "seed", "seeds", "chunk", "top-k",
                                      "kv-heads", "oracle-tokens", "prompt", "question"}) {
    if (!arguments.given(name)) continue;
    for (const std::string& value : arguments.values(name)) {
      out += " --" + std::string(name) + " " + shell_word(value);
    }
  }
  for (const std::string_view name : {"oracle", "strict", "learned-sinks"}) {
    if (arguments.given(name)) out += " --" + std::string(name);
  }
  return out;
}

Result<std::vector<std::uint64_t>> seeds_of(const Arguments& arguments) {
  if (arguments.given("seed") && arguments.given("seeds")) {
    return usage_error("--seed and --seeds are both given; --seeds N runs the seeds 1 to N");
  }
  if (!arguments.given("seeds")) {
    const auto seed = arguments.count("seed", 0, ~std::uint64_t{0});
    if (!seed) return seed.error();
    return std::vector<std::uint64_t>{seed->value()};
  }
  const auto count = arguments.count("seeds", 1, max_cells);
  if (!count) return count.error();
  std::vector<std::uint64_t> seeds;
  for (std::uint64_t seed = 1; seed <= **count; ++seed) seeds.push_back(seed);
  return seeds;
}

Result<std::vector<PlannedCell>> cells_of(const Arguments& arguments) {
  Sweep sweep;
  sweep.policies = arguments.values("policy");
  if (sweep.policies.empty() && arguments.given("oracle")) sweep.policies = {"all"};
  if (sweep.policies.empty()) {
    return usage_error("no --policy is given; expected one or more, or --policy all");
  }
  const auto budgets = arguments.counts("budget", 1, max_u32);
  if (!budgets) return budgets.error();
  for (const std::uint64_t budget : *budgets) {
    sweep.budgets.push_back(static_cast<std::uint32_t>(budget));
  }
  const auto seeds = seeds_of(arguments);
  if (!seeds) return seeds.error();
  sweep.seeds = *seeds;
  const auto chunk = arguments.count("chunk", 1, max_u32);
  if (!chunk) return chunk.error();
  sweep.chunk = static_cast<std::uint32_t>(chunk->value_or(0));
  return plan_cells(sweep);
}

Result<Outputs> outputs_of(const Arguments& arguments) {
  for (const std::string_view name : {"output", "json", "csv"}) {
    if (arguments.given(name) && arguments.value(name).empty()) {
      return usage_error("--" + std::string(name) + " needs the name of a file");
    }
  }
  return Outputs{arguments.value("output"), arguments.value("json"), arguments.value("csv")};
}

// The source's attention, with the marks of the command if it has any.
Result<Dump> open_marked(const Arguments& arguments,
                         const std::string& source,
                         const Marks& marks,
                         const ReadingProgress& progress) {
  const auto options = dump_options(arguments);
  if (!options) return options.error();
  if (auto fits = check_memory(arguments, source_needs(source)); !fits) return fits.error();
  Result<Dump> dump = open_source_dump(source, *options, [&](double share) {
    if (progress) progress(source, share);
  });
  if (dump && marks.known()) dump->trace.mark(marks);
  return dump;
}

Result<void> check_new(const ReplayPlan& plan, const std::string& source, const TraceInfo& info) {
  const bool known = std::ranges::any_of(plan.traces, [&](const Trace& other) {
    return other.info().name == info.name && other.info().checksum == info.checksum;
  });
  if (known) return usage_error("the trace '" + source + "' is given twice");
  return {};
}

Result<void> open_traces(const Arguments& arguments,
                         std::span<const PlannedCell> cells,
                         const ReadingProgress& progress,
                         ReplayPlan& plan) {
  const Result<Marks> marks = marks_of(arguments);
  if (!marks) return marks.error();
  const bool strict = arguments.given("strict");
  Result<void> none_fits;
  for (const std::string& source : plan.sources) {
    Result<Dump> dump = open_marked(arguments, source, *marks, progress);
    if (!dump) return dump.error();
    const bool kv_heads_known = dump->kv_heads_known;
    Result<Trace> trace = std::move(dump->trace);
    const TraceInfo& info = trace->info();
    if (const auto fresh = check_new(plan, source, info); !fresh) return fresh;
    Result<std::vector<std::string>> left_out = unserved(cells, *trace);
    if (!left_out) return left_out.error();
    if (const Result<void> fits = check_fit(cells, info); !fits) {
      if (strict) return fits;
      plan.too_short.push_back(left_out_words(cells, info));
      if (none_fits) none_fits = fits;
      if (!fits_any(cells, info)) continue;
    }
    plan.kv_heads_known.push_back(kv_heads_known);
    plan.left_out.push_back(*std::move(left_out));
    plan.traces.push_back(*std::move(trace));
  }
  // Sources are never empty, so without a trace there is the error of the first that is too short.
  return plan.traces.empty() ? none_fits : Result<void>{};
}

}  // namespace

std::string shell_word(const std::string& word) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

Result<ReplayPlan> plan_replay(const Arguments& arguments, const ReadingProgress& progress) {
  if (const auto some = arguments.expect_operands("a TRACE", 1, 10000); !some) return some.error();
  ReplayPlan plan;
  plan.sources.assign(arguments.operands().begin(), arguments.operands().end());
  const auto threads = arguments.count("threads", 1, 1024);
  if (!threads) return threads.error();
  plan.options.threads = static_cast<unsigned>(threads->value_or(0));
  const auto top_k = arguments.count("top-k", 0, 65536);
  if (!top_k) return top_k.error();
  plan.options.top_k = top_k->value();
  const auto oracle_tokens = arguments.count("oracle-tokens", 1, 65536);
  if (!oracle_tokens) return oracle_tokens.error();
  plan.options.oracle = arguments.given("oracle");
  plan.options.oracle_tokens = oracle_tokens->value();
  if (arguments.given("oracle-tokens") && !plan.options.oracle) {
    return usage_error("--oracle-tokens is given without --oracle");
  }
  plan.per_head = arguments.given("per-head");
  plan.quiet = arguments.given("quiet");
  plan.resume = arguments.given("resume");
  if (const auto fine = check_resume(arguments); !fine) return fine.error();
  plan.command = command_of(arguments);

  const Result<std::vector<PlannedCell>> cells = cells_of(arguments);
  if (!cells) return cells.error();
  for (const PlannedCell& planned : *cells) plan.cells.push_back(planned.cell);
  Result<Outputs> outputs = outputs_of(arguments);
  if (!outputs) return outputs.error();
  plan.outputs = *std::move(outputs);
  if (const auto fine = check_outputs(plan.outputs, plan.sources); !fine) return fine.error();
  if (const auto opened = open_traces(arguments, *cells, progress, plan); !opened)
    return opened.error();
  const auto needs = replay_needs(plan.traces, plan.cells, plan.options);
  if (auto fits = check_memory(arguments, needs); !fits) return fits.error();
  return plan;
}

}  // namespace kv::cli
