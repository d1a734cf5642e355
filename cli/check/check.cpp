#include "kvcheck/cli/check/check.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <ostream>
#include <vector>

#include "kvcheck/base/text/text.h"
#include "kvcheck/base/text/text_stream.h"
#include "kvcheck/cli/check/check_files.h"
#include "kvcheck/cli/check/laws_text.h"
#include "kvcheck/cli/check/result_colours.h"
#include "kvcheck/cli/check/subject.h"
#include "kvcheck/cli/options/interrupt.h"
#include "kvcheck/cli/options/late_file.h"
#include "kvcheck/cli/options/options.h"
#include "kvcheck/cli/options/own_time.h"
#include "kvcheck/cli/options/progress.h"
#include "kvcheck/cli/options/terminal.h"
#include "kvcheck/properties/battery/battery.h"
#include "kvcheck/properties/output/result_writers.h"
#include "kvcheck/properties/recorded/record_cases.h"
#include "kvcheck/properties/stop.h"

namespace kv::cli {
namespace {

constexpr std::array<Option, 18> table = {{
    {.name = "plugin", .value = "LIB", .help = "the subject is this shared library"},
    {.name = "exec", .value = "COMMAND", .help = "the subject is this program, run by a shell"},
    {.name = "full", .help = "minutes instead of seconds: ten times the cases, larger statistics"},
    {.name = "nightly", .help = "an hour or more: a hundred times the cases"},
    {.name = "time",
     .value = "TIME",
     .help = "begin no new work after 30s or 2m of the subject's time; by default 60s, with --full "
             "10m, with --nightly 2h; a program's first answer must come within it. Time in which "
             "the machine did other work is not counted"},
    {.name = "strict",
     .help = "a law that applies and was not run is an error: exit status 3 [if CI is set]"},
    {.name = "no-strict", .help = "it is not, even if CI is set in the environment"},
    {.name = "filter",
     .value = "LAW",
     .help = "only these laws: an id, or its beginning and a '*', as in 'visible.*'",
     .list = true},
    {.name = "seed", .value = "N", .default_value = "1", .help = "the seed of all cases"},
    {.name = "reproduce",
     .value = "STRING",
     .help = "try one law on one case again; a finding prints the string"},
    {.name = "all",
     .help = "list every law, also those that hold and those that are not applicable"},
    {.name = "json",
     .value = "FILE",
     .help = "write all results as one JSON object; - is standard output"},
    {.name = "junit", .value = "FILE", .help = "write them as JUnit XML; - is standard output"},
    {.name = "record",
     .value = "FILE",
     .help = "also write the runs of the cases that laws share, for kvcheck judge; - is standard "
             "output"},
    {.name = "list",
     .letter = 'l',
     .help = "list all laws with their sentences, and check nothing"},
    {.name = "explain", .value = "LAW", .help = "explain what a law means and where it was broken"},
    {.name = "quiet", .letter = 'q', .help = "no progress"},
    {.name = "help", .letter = 'h', .help = "this text"},
}};

constexpr std::string_view help =
    "Tests a key/value cache with every law, and shows the smallest case that breaks a law.\n"
    "\n"
    "Usage:  kvcheck check SUBJECT [OPTIONS]\n"
    "        kvcheck check --plugin LIB [OPTIONS]\n"
    "        kvcheck check --exec COMMAND [OPTIONS]\n"
    "        kvcheck check --list\n"
    "        kvcheck check --explain LAW\n"
    "\n"
    "SUBJECT is a spec (reservoir:sinks=4,recent=28,budget=64) or a preset (@streaming-llm), run\n"
    "by kvcheck's own cache; see kvcheck policies. Its contract follows from the spec: timing,\n"
    "visibility, positions, and the policy's claims. A cache of your own is a shared library\n"
    "behind a C interface, or a program that speaks a line protocol; it declares its contract\n"
    "itself. Every law that applies is tried on small sizes and on the sizes of the subject. A "
    "law\n"
    "counts as not run, and the output says so, if none of its cases showed an eviction, or if\n"
    "time ran out before a quarter of its cases was tried.\n"
    "\n"
    "{options}\n"
    "\n"
    "Exit status: 0 every law that was run holds; 1 a law is broken; 2 usage, or nothing was run;\n"
    "3 with --strict, no law is broken but not all that apply were run; 130 interrupted: the\n"
    "output is of the cases that had been tried by then.\n"
    "\n"
    "Examples:\n"
    "  kvcheck check reservoir:sinks=4,recent=28,budget=64\n"
    "  kvcheck check '@h2o:budget=64' --full --json h2o.json\n"
    "  kvcheck check streaming:sinks=4,recent=28 --filter 'visible.*' --junit laws.xml\n"
    "  kvcheck check --explain survives\n";

// "30s", "2m": seconds; 0 if the text is empty.
Result<double> parse_time(const std::string& word) {
  if (word.empty()) return 0.0;
  const char unit = word.back();
  const double scale = unit == 's' ? 1 : unit == 'm' ? 60 : unit == 'h' ? 3600 : 0;
  if (scale == 0) {
    return usage_error("--time is '" + word + "'; expected a time such as 30s, 2m or 1h");
  }
  const auto count = parse_real(word.substr(0, word.size() - 1), "--time", 0.001, 1e6);
  if (!count) return count.error();
  return *count * scale;
}

Result<properties::BatteryOptions> options_of(const Arguments& arguments) {
  properties::BatteryOptions options;
  if (arguments.given("full") && arguments.given("nightly")) {
    return usage_error("--full and --nightly are two levels; expected one");
  }
  if (arguments.given("full")) options.effort.level = properties::Level::full;
  if (arguments.given("nightly")) options.effort.level = properties::Level::nightly;
  const auto seed = arguments.count("seed", 0, ~std::uint64_t{0});
  if (!seed) return seed.error();
  options.effort.seed = seed->value_or(1);
  const auto seconds = parse_time(arguments.value("time"));
  if (!seconds) return seconds.error();
  options.seconds = *seconds;
  options.filter = arguments.values("filter");
  if (arguments.given("strict") && arguments.given("no-strict")) {
    return usage_error("--strict and --no-strict exclude each other");
  }
  // What runs unattended must not pass because little was tried.
  options.strict =
      arguments.given("strict") || (std::getenv("CI") != nullptr && !arguments.given("no-strict"));
  options.clock = OwnTime();
  return options;
}

// --reproduce takes everything from its string, so other options would have no effect.
Result<void> check_alone(const Arguments& arguments) {
  if (!arguments.given("reproduce")) return {};
  for (const char* other :
       {"full", "nightly", "time", "filter", "seed", "strict", "no-strict", "record"}) {
    if (arguments.given(other)) {
      return usage_error("--" + std::string(other) +
                         " has no effect with --reproduce, which tries one law on one case");
    }
  }
  return {};
}

Result<properties::BatteryResult> report_of(properties::Family& family,
                                            const Arguments& arguments,
                                            Streams& streams) {
  if (arguments.given("reproduce"))
    return properties::reproduce(family, arguments.value("reproduce"));
  auto options = options_of(arguments);
  if (!options) return options.error();
  Progress progress(streams.err, streams.terminal && !arguments.given("quiet"));
  options->progress = [&](double share, std::string_view what) { progress.update(share, what); };
  options->report_interrupted = true;
  return properties::run_battery(family, *options);
}

Result<void> write_report(const properties::BatteryResult& report,
                          const std::string& subject,
                          double seconds,
                          properties::Listing listing,
                          CheckFiles& files,
                          Streams& streams) {
  TextStream json;
  TextStream junit;
  properties::write_json(report, json);
  properties::write_junit(report, subject, seconds, junit);
  if (auto done = files.json.write(json.str(), streams); !done) return done;
  if (auto done = files.junit.write(junit.str(), streams); !done) return done;
  if (files.take_output()) return {};
  TextStream text;
  properties::write_text(report, subject, text, streams.columns, listing);
  streams.out << (streams.colours ? with_colours(text.str()) : text.str());
  return {};
}

// In how many of the runs that --record writes the cache failed. Cases depend on the options alone,
// so they are those that the laws were tried on.
Result<std::uint64_t> record(properties::Family& family,
                             const Arguments& arguments,
                             CheckFiles& files,
                             Streams& streams) {
  if (!files.record.is_requested() || interrupted()) return 0;
  const auto options = options_of(arguments);
  if (!options) return options.error();
  std::string lines;
  const auto recorded =
      properties::record_cases(family, *options, [&](std::string_view more) -> Result<void> {
        lines += more;
        return {};
      });
  if (!recorded) return recorded.error();
  if (auto done = files.record.write(lines, streams); !done) return done.error();
  return recorded->failed;
}

Result<Outcome> check(const Arguments& arguments, Streams& streams) {
  const InterruptGuard guard;
  const properties::StopWhen stop(interrupted);
  const auto time = parse_time(arguments.value("time"));
  if (auto alone = check_alone(arguments); !alone) return alone.error();
  auto files = open_check_files(arguments);
  if (!files) return files.error();
  const auto subject = subject_of(arguments, time ? *time : 0);
  if (!subject) return not_begun(subject.error(), arguments, *files, streams);
  const auto begun = std::chrono::steady_clock::now();
  auto report = report_of(*subject->family, arguments, streams);
  if (!report) return not_begun(report.error(), arguments, *files, streams);
  if (!subject->unseen.empty()) report->deviations.push_back(subject->unseen);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  const auto failed = record(*subject->family, arguments, *files, streams);
  if (!failed) return failed.error();
  // One law that is tried again is what the user asks about, also if it holds.
  const bool every = arguments.given("all") || arguments.given("reproduce");
  const auto listing = every ? properties::Listing::every_law : properties::Listing::open_laws;
  if (auto done = write_report(*report, subject->arguments, seconds, listing, *files, streams);
      !done) {
    return done.error();
  }
  if (report->interrupted) {
    return io_error("interrupted; the result is of what had been tried by then");
  }
  if (report->count(properties::Status::broken) > 0) return Outcome::law_broken;
  // The laws of --filter may hold where the cache fails, as no law but 'survives' asks for more.
  if (*failed > 0) {
    streams.err << "kvcheck check: the cache failed in " << *failed
                << " of the recorded runs; kvcheck judge says how\n";
    return Outcome::law_broken;
  }
  if (report->strict && !report->complete()) return Outcome::incomplete;
  if (report->holds()) return Outcome::done;
  return Error{Error::Kind::unsupported, "no law was tried, so this is not a pass"};
}

// With every other command --budget is a number of residents.
Result<void> no_budget(std::span<const std::string> given) {
  const auto is_budget = [](const std::string& word) {
    return word == "--budget" || word.starts_with("--budget=");
  };
  if (std::ranges::none_of(given, is_budget)) return {};
  return usage_error(
      "--budget is residents and belongs in the spec, as in 'h2o:budget=64'; for a time limit use "
      "--time 30s");
}

Result<Outcome> run(std::span<const std::string> given, Streams& streams) {
  if (auto none = no_budget(given); !none) return none.error();
  const auto arguments = Arguments::parse(table, given);
  if (!arguments) return arguments.error();
  if (arguments->given("list") || arguments->given("explain")) {
    if (auto none = arguments->expect_operands("subject", 0, 0); !none) return none.error();
  }
  if (arguments->given("list")) {
    streams.out << folded(law_list(), streams.columns);
    return Outcome::done;
  }
  if (arguments->given("explain")) {
    const auto text = law_explained(arguments->value("explain"));
    if (!text) return text.error();
    streams.out << folded(*text, streams.columns);
    return Outcome::done;
  }
  return check(*arguments, streams);
}

}  // namespace

constinit const Command check_command = {
    .name = "check",
    .summary =
        "test a key/value cache with every law, and show the smallest case that breaks a law",
    .help = help,
    .run = run,
    .options = table,
};

}  // namespace kv::cli
