#include "kvcheck/cli/judge/judge.h"

#include <array>
#include <cstdlib>
#include <optional>
#include <ostream>

#include "kvcheck/base/text/text_stream.h"
#include "kvcheck/cli/check/result_colours.h"
#include "kvcheck/cli/judge/array_history.h"
#include "kvcheck/cli/judge/beside.h"
#include "kvcheck/cli/judge/recorded_input.h"
#include "kvcheck/cli/options/interrupt.h"
#include "kvcheck/cli/options/late_file.h"
#include "kvcheck/cli/options/memory.h"
#include "kvcheck/cli/options/options.h"
#include "kvcheck/properties/output/result_writers.h"
#include "kvcheck/properties/recorded/judge_file.h"
#include "kvcheck/properties/stop.h"
#include "kvcheck/reports/tables/tables.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv::cli {
namespace {

constexpr std::array<Option, 14> table = {{
    {.name = "spec",
     .value = "SPEC",
     .help = "judge by the contract of this spec or preset, as check does, instead of by what the "
             "file declares"},
    {.name = "declare",
     .value = "FIELD=VALUE",
     .help = "declare this instead of what the file declares, as in visibility=causal; the fields "
             "are those of properties/PROTOCOL.md",
     .list = true},
    {.name = "filter",
     .value = "LAW",
     .help = "only these laws: an id, or its beginning and a '*', as in 'visible.*'",
     .list = true},
    {.name = "strict",
     .help = "a law that applies and was not run is an error: exit status 3 [if CI is set]"},
    {.name = "no-strict", .help = "it is not, even if CI is set in the environment"},
    {.name = "all",
     .help = "list every law, also those that hold and those that are not applicable"},
    {.name = "trace",
     .value = "SOURCE",
     .help =
         "also show what the run retained of this attention, a trace of the same tokens without "
         "evictions: a file, or synthetic:GENERATOR"},
    {.name = "policy",
     .value = "SPEC",
     .help = "with --trace: replay this policy beside it, by default at the run's budget",
     .list = true},
    {.name = "oracle",
     .help = "with --trace: the most that any cache could have retained whose queries see as many "
             "tokens, and each cache's share of it"},
    {.name = "csv", .value = "FILE", .help = "with --trace: write the comparison as CSV"},
    {.name = "memory",
     .value = "SIZE",
     .default_value = "1G",
     .help =
         "memory for the rows of a run, as 500M or 4G; a run that needs more is judged in parts"},
    {.name = "json",
     .value = "FILE",
     .help = "write all results as one JSON object; - is standard output"},
    {.name = "junit", .value = "FILE", .help = "write them as JUnit XML; - is standard output"},
    {.name = "help", .letter = 'h', .help = "this text"},
}};

constexpr std::string_view help =
    "Judges what a key/value cache did in a recorded run.\n"
    "\n"
    "Usage:  kvcheck judge FILE [OPTIONS]\n"
    "\n"
    "FILE holds lines of JSON: what the cache declares, then for each call the tokens that it was\n"
    "fed, what each unit stored afterwards or evicted, and what queries saw, where that is known.\n"
    "Ten lines of Python write it in any framework; properties/HISTORY.md specifies it. It may be "
    "a\n"
    "pipe, or - for standard input. It may also be a safetensors file that says when each token "
    "was\n"
    "evicted.\n"
    "\n"
    "Every law that needs no further calls is tried on every run of the file. The others are "
    "listed\n"
    "as not applicable, with the reason, and so are laws on what the file leaves out.\n"
    "\n"
    "If the attention of the same text was recorded too, without evictions, --trace shows what "
    "the\n"
    "run retained of it, beside policies and the optimum. The run then only feeds tokens, and "
    "says\n"
    "what its queries saw.\n"
    "\n"
    "{options}\n"
    "\n"
    "Exit status: 0 every law that was run holds; 1 a law is broken; 2 usage, a wrong file, or\n"
    "nothing was run; 3 with --strict, no law is broken but not all that apply were run;\n"
    "130 interrupted.\n"
    "\n"
    "Examples:\n"
    "  kvcheck judge run.jsonl\n"
    "  kvcheck judge run.jsonl --declare visibility=causal --declare budget=64 --all\n"
    "  kvcheck judge run.jsonl --filter 'resident.*' --junit laws.xml\n"
    "  zcat run.jsonl.gz | kvcheck judge -\n"
    "  kvcheck judge run.jsonl --trace text.safetensors --policy h2o --policy streaming --oracle\n";

Result<properties::JudgeOptions> options_of(const Arguments& arguments) {
  properties::JudgeOptions options;
  if (arguments.given("strict") && arguments.given("no-strict")) {
    return usage_error("--strict and --no-strict exclude each other");
  }
  // What runs unattended must not pass because little was tried.
  options.strict =
      arguments.given("strict") || (std::getenv("CI") != nullptr && !arguments.given("no-strict"));
  options.filter = arguments.values("filter");
  const auto bytes = memory_given(arguments, options.bytes);
  if (!bytes) return bytes.error();
  options.bytes = *bytes;
  if (arguments.given("spec")) {
    const auto spec = parse_spec(arguments.value("spec"));
    if (!spec) return spec.error();
    options.redeclared.spec = std::make_shared<const Spec>(*spec);
  }
  for (const std::string& word : arguments.values("declare")) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0) {
      return usage_error("--declare is '" + word + "'; expected FIELD=VALUE");
    }
    options.redeclared.fields.emplace_back(word.substr(0, equals), word.substr(equals + 1));
  }
  return options;
}

// What of the attention of a trace the run retained, if this was asked for.
Result<std::optional<Beside>> compared(std::string_view text,
                                       const std::string& path,
                                       const properties::JudgeOptions& judged,
                                       const Arguments& arguments) {
  if (!arguments.given("trace")) {
    for (const char* const other : {"policy", "oracle", "csv"}) {
      if (!arguments.given(other)) continue;
      return usage_error("--" + std::string(other) +
                         " needs --trace, the attention on which the run is compared");
    }
    return std::optional<Beside>();
  }
  auto beside = beside_policies(text, path,
                                {.trace = arguments.value("trace"),
                                 .policies = arguments.values("policy"),
                                 .oracle = arguments.given("oracle"),
                                 .bytes = judged.bytes,
                                 .redeclared = judged.redeclared});
  if (!beside) return beside.error();
  return std::optional(*std::move(beside));
}

// The files to which results are written.
struct Files {
  LateFile json;
  LateFile junit;
  LateFile csv;

  [[nodiscard]] bool take_output() const {
    return json.is_standard_output() || junit.is_standard_output() || csv.is_standard_output();
  }
};

Result<Files> open_files(const Arguments& arguments) {
  auto json = LateFile::open(arguments.value("json"));
  if (!json) return json.error();
  auto junit = LateFile::open(arguments.value("junit"));
  if (!junit) return junit.error();
  auto csv = LateFile::open(arguments.value("csv"));
  if (!csv) return csv.error();
  return Files{*std::move(json), *std::move(junit), *std::move(csv)};
}

std::string text_of(const Beside& beside, std::size_t columns) {
  std::string text = "\n" + beside.heading + "\n\n" + reports::to_text(beside.table, columns);
  if (!beside.note.empty()) text += "\n" + beside.note + "\n";
  return text;
}

Result<void> write(const properties::BatteryResult& report,
                   const std::optional<Beside>& beside,
                   const Arguments& arguments,
                   Files& files,
                   Streams& streams) {
  TextStream text;
  properties::write_json(report, text);
  if (auto done = files.json.write(text.str(), streams); !done) return done;
  TextStream xml;
  properties::write_junit(report, "", 0, xml);
  if (auto done = files.junit.write(xml.str(), streams); !done) return done;
  const std::string csv = beside ? reports::to_csv(beside->table) : std::string();
  if (auto done = files.csv.write(csv, streams); !done) return done;
  if (files.take_output()) return {};
  TextStream shown;
  properties::write_text(
      report, "", shown, streams.columns,
      arguments.given("all") ? properties::Listing::every_law : properties::Listing::open_laws);
  streams.out << (streams.colours ? with_colours(shown.str()) : shown.str());
  if (beside) streams.out << text_of(*beside, streams.columns);
  return {};
}

Result<Outcome> run(std::span<const std::string> given, Streams& streams) {
  const auto arguments = Arguments::parse(table, given);
  if (!arguments) return arguments.error();
  if (auto one = arguments->expect_operands("file", 1, 1); !one) return one.error();
  const auto options = options_of(*arguments);
  if (!options) return options.error();
  auto files = open_files(*arguments);
  if (!files) return files.error();
  const InterruptGuard guard;
  const properties::StopWhen stop(interrupted);
  const auto file = RecordedInput::open(arguments->operands()[0]);
  if (!file) return file.error();
  const std::string& path = file->name();
  std::string_view text = file->text();
  std::string lines;
  if (is_array_history(text)) {
    auto read = lines_of_arrays(text, path);
    if (!read) return read.error();
    lines = *std::move(read);
    text = lines;
  }
  const auto report = properties::judge_file(text, path, *options);
  if (!report) return report.error();
  const auto beside = compared(text, path, *options, *arguments);
  if (!beside) return beside.error();
  if (auto same = file->unchanged(); !same) return same.error();
  if (auto done = write(*report, *beside, *arguments, *files, streams); !done) return done.error();
  if (report->count(properties::Status::broken) > 0) return Outcome::law_broken;
  if (report->strict && !report->complete()) return Outcome::incomplete;
  if (report->holds()) return Outcome::done;
  return Error{Error::Kind::unsupported, "no law was tried, so this is not a pass"};
}

}  // namespace

constinit const Command judge_command = {
    .name = "judge",
    .summary = "judge what a key/value cache did in a recorded run",
    .help = help,
    .run = run,
    .options = table,
};

}  // namespace kv::cli
