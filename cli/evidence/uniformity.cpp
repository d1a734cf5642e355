#include "kvcheck/cli/evidence/uniformity.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <ostream>

#include "kvcheck/base/text/text_stream.h"
#include "kvcheck/base/threads/machine.h"
#include "kvcheck/cli/evidence/uniformity_text.h"
#include "kvcheck/cli/options/interrupt.h"
#include "kvcheck/cli/options/output_file.h"
#include "kvcheck/cli/options/terminal.h"
#include "kvcheck/properties/remote/plugin_family.h"
#include "kvcheck/properties/remote/process_family.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv::cli {
namespace {

constexpr std::array<Option, 10> table = {{
    {.name = "plugin", .value = "LIB", .help = "measure the cache in this shared library"},
    {.name = "exec", .value = "COMMAND", .help = "measure the cache that this program serves"},
    {.name = "tokens",
     .letter = 'n',
     .value = "N",
     .default_value = "256",
     .help = "tokens of each stream, sinks and recent ones included"},
    {.name = "trials",
     .letter = 'R',
     .value = "R",
     .help = "independent streams [20000, of a program or library 2000]"},
    {.name = "seed",
     .value = "N",
     .default_value = "1",
     .help = "the seed from which all streams derive"},
    {.name = "threads",
     .value = "N",
     .help = "threads to use, 1 to 1024 [all that it may use]; results do not depend on it"},
    {.name = "json",
     .value = "FILE",
     .help = "write everything as JSON there; - is standard output"},
    {.name = "plot",
     .value = "DIR",
     .help = "draw inclusion by position and the pair matrix there"},
    {.name = "quiet", .letter = 'q', .help = "no closing line about speed"},
    {.name = "help", .letter = 'h', .help = "this text"},
}};

constexpr std::string_view help =
    "Tests whether a policy keeps a uniform sample of all tokens that left the recent window.\n"
    "\n"
    "Usage:  kvcheck uniformity SPEC [--tokens N] [--trials R] [OPTIONS]\n"
    "        kvcheck uniformity --exec COMMAND | --plugin LIB [OPTIONS]\n"
    "\n"
    "Runs R independent streams of N tokens through one unit's cache. It counts which tokens are\n"
    "in the middle at the end, which pairs are, which newcomers were kept, and which tokens they\n"
    "replaced. If n tokens entered the middle and it has room for k, a uniform sample keeps each\n"
    "of them with probability k/n. Tests:\n"
    "\n"
    "  T1        every token's inclusion, with the exact covariance of k out of n\n"
    "  trend     a straight line through inclusion\n"
    "  largest   the one token farthest from k/n\n"
    "  T2        every pair, given the tokens (up to 256 tokens)\n"
    "  TA        the t-th newcomer is kept with probability k/t\n"
    "  TE        the evicted token is equally likely to be any of the k older ones, by age\n"
    "\n"
    "A uniform policy is judged not uniform in one of 10^9 runs, because a suspicious result is\n"
    "tested again on four times as many fresh streams. The column \"would see\" shows the\n"
    "smallest deviation, relative to the expected value, that the run finds with probability\n"
    "0.99. If the policy is not uniform, the command looks for the smallest sizes that show it. "
    "If\n"
    "the draws are whole numbers, it also tries every outcome of a tiny case to find an exact\n"
    "witness. A policy that decides by attention observes the same attention on every key. A\n"
    "program or library is measured with the same tests at the sizes that it wants, in one "
    "thread.\n"
    "\n"
    "{options}\n"
    "\n"
    "Examples:\n"
    "  kvcheck uniformity reservoir:sinks=4,recent=28,budget=64\n"
    "  kvcheck uniformity reservoir:budget=64,algorithm=l --tokens 512 --trials 100000\n"
    "  kvcheck uniformity reservoir-as-printed:sinks=4,recent=4,budget=12 --tokens 64 --plot "
    "plots\n"
    "  kvcheck uniformity 'reservoir:budget=32;chunk=16' --json -\n"
    "  kvcheck uniformity --exec 'python3 my_cache.py' --tokens 1024\n"
    "\n"
    "Exit status: 0 uniform, 1 not, 2 usage or bad input, 130 interrupted.\n";

// What the arguments request.
struct Request {
  std::optional<Spec> spec;  // else there is a family
  std::unique_ptr<properties::Family> family;
  properties::UniformityOptions options;
  std::string json;
  std::string plot;
  bool quiet = false;
};

Result<Request> read_words(std::span<const std::string> arguments) {
  const Result<Arguments> read = Arguments::parse(table, arguments);
  if (!read) return read.error();
  const bool plugin = read->given("plugin");
  const bool program = read->given("exec");
  if (plugin && program) return usage_error("--plugin and --exec are two subjects; expected one");
  const std::size_t operands = plugin || program ? 0 : 1;
  if (auto one = read->expect_operands("SPEC", operands, operands); !one) return one.error();
  Request request{.spec = {},
                  .family = nullptr,
                  .options = {},
                  .json = read->value("json"),
                  .plot = read->value("plot"),
                  .quiet = read->given("quiet")};
  const auto tokens = read->count("tokens", 1, 1U << 24U);
  if (!tokens) return tokens.error();
  const auto trials = read->count("trials", 1, 1ULL << 40U);
  if (!trials) return trials.error();
  const auto seed = read->count("seed", 0, ~0ULL);
  if (!seed) return seed.error();
  const auto threads = read->count("threads", 1, 1024);
  if (!threads) return threads.error();
  request.options.tokens = static_cast<std::uint32_t>(**tokens);
  request.options.trials = trials->value_or(operands == 0 ? 2000 : 20000);
  request.options.seed = **seed;
  request.options.threads = static_cast<std::uint32_t>(threads->value_or(machine_threads()));
  if (operands == 0) {
    auto family = plugin ? properties::make_plugin_family(read->value("plugin"))
                         : properties::make_process_family(read->value("exec"));
    if (!family) return family.error();
    request.family = *std::move(family);
    return request;
  }
  Result<Spec> spec = parse_spec(read->operands()[0]);
  if (!spec) return spec.error();
  if (spec->phases.compress != Phases::Compress::always) return no_phases(*spec, "uniformity");
  request.spec = *std::move(spec);
  return request;
}

Result<Outcome> run(std::span<const std::string> arguments, Streams& streams) {
  Result<Request> request = read_words(arguments);
  if (!request) return request.error();
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begun = Clock::now();
  const InterruptGuard guard;
  request->options.more = [](double) { return !interrupted(); };
  const Result<properties::UniformityResult> report =
      request->spec ? properties::measure_uniformity(*request->spec, request->options)
                    : properties::measure_uniformity(*request->family, request->options);
  if (!report) return report.error();
  Sampled sampled;
  if (request->spec) {
    sampled = sampled_by(*request->spec);
  } else {
    const auto contract = request->family->contract(request->family->requested());
    const std::string name = request->family->name();
    sampled = {name, name, contract ? contract->sinks : 0};
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - begun).count();

  if (request->json == "-") {
    streams.out << uniformity_json(sampled, *report) << "\n";
  } else {
    TextStream text;
    print_uniformity(sampled, *report, text);
    streams.out << folded(text.str(), streams.columns);
    if (!request->json.empty()) {
      const auto done = write_output(request->json, uniformity_json(sampled, *report) + "\n");
      if (!done) return done.error();
    }
  }
  if (!request->plot.empty()) {
    const auto done = reports::draw_uniformity(uniformity_plot(sampled, *report), request->plot);
    if (!done) return done.error();
  }
  if (!request->quiet && streams.terminal && seconds > 0) {
    streams.err << std::floor(static_cast<double>(report->decisions) / seconds / 1e5) / 10.0
                << " million decisions a second, tests included\n";
  }
  return report->uniform ? Outcome::done : Outcome::law_broken;
}

}  // namespace

const Command uniformity_command = {
    "uniformity",
    "test whether a policy keeps a uniform sample of all tokens that left the recent window", help,
    run, table};

}  // namespace kv::cli
