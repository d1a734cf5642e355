#include "cli/speed.h"

#include <array>
#include <cstdio>
#include <ostream>
#include <utility>

#include "base/file.h"
#include "base/json_text.h"
#include "cli/interrupt.h"
#include "cli/model_words.h"
#include "cli/progress.h"
#include "cli/speed_run.h"
#include "reports/tables.h"

namespace kv::cli {
namespace {

constexpr std::array<Option, 14> table = {{
    model_option,
    weights_option,
    policy_option,
    {.name = "budget",
     .value = "N,...",
     .help = "residents that may stay after trimming, for policies whose spec leaves that open"},
    {.name = "chunk",
     .value = "N",
     .help = "tokens of the prompt per forward pass, for specs that leave it open"},
    {.name = "length",
     .value = "N,...",
     .default_value = "256,512,1024",
     .help = "tokens of the prompt, each from an empty cache"},
    {.name = "tokens",
     .value = "N",
     .default_value = "32",
     .help = "tokens that are timed one by one after each prompt"},
    {.name = "seed", .value = "N", .default_value = "1", .help = "the seed of policies that draw"},
    storage_option,
    keys_option,
    {.name = "json", .value = "FILE", .help = "write JSON lines there; - is standard output"},
    {.name = "csv", .value = "FILE", .help = "write the table as CSV there; - is standard output"},
    {.name = "quiet", .letter = 'q', .help = "no progress"},
    {.name = "help", .letter = 'h', .help = "this text"},
}};

constexpr std::string_view help =
    "Times a real model on what each policy leaves, over growing lengths.\n"
    "\n"
    "Usage:  kvcheck speed --model PATH [--policy SPEC...] [OPTIONS]\n"
    "\n"
    "Per policy and length: the time to the first token (the whole prompt), the median time of a\n"
    "token after it and how much of that is attention (storing keys and values, policy and\n"
    "residents included), the bytes of keys and values, and the largest memory of the process.\n"
    "Other work on the machine is in the times; compare rows of one run only.\n"
    "\n"
    "{options}\n"
    "\n"
    "Examples:\n"
    "  kvcheck speed --model pythia-70m --policy dense \\\n"
    "      --policy 'streaming:sinks=4;positions=in-cache' --budget 256 --length 256,1024,2048\n"
    "  kvcheck speed --model stories260K.bin --policy window --budget 64 --csv -\n"
    "\n"
    "Exit status: 0 done, 2 usage or bad input, 130 interrupted.\n";

struct SpeedPlan {
  std::string path;
  std::string weights;  // how they are stored
  LanguageModel model;
  std::vector<Cell> cells;
  DecoderOptions options;
  std::vector<std::uint64_t> lengths;
  std::size_t tokens = 0;
  std::string json;
  std::string csv;
  bool quiet = false;
};

struct TimedRow {
  Cell cell;
  SpeedRow speed;
};

Result<SpeedPlan> plan_speed(const Words& words) {
  if (const auto none = words.expect_operands("operand", 0, 0); !none) return none.error();
  SpeedPlan plan;
  Result<std::vector<Cell>> cells = model_cells(words, {"dense"});
  if (!cells) return cells.error();
  plan.cells = *std::move(cells);
  const Result<DecoderOptions> options = decoder_options(words);
  if (!options) return options.error();
  plan.options = *options;
  const auto lengths = words.counts("length", 1, std::uint64_t{1} << 24);
  if (!lengths) return lengths.error();
  plan.lengths = *lengths;
  const auto tokens = words.count("tokens", 1, 1000000);
  if (!tokens) return tokens.error();
  plan.tokens = tokens->value();
  plan.json = words.value("json");
  plan.csv = words.value("csv");
  plan.quiet = words.given("quiet");
  if (plan.json == "-" && plan.csv == "-") {
    return usage_error("--json and --csv both ask for standard output; expected a file for one");
  }
  Result<LanguageModel> model = opened_weights(words);
  if (!model) return model.error();
  plan.path = words.value("model");
  plan.weights = words.value("weights");
  plan.model = *std::move(model);
  return plan;
}

Result<std::vector<TimedRow>> time_all(const SpeedPlan& plan, Streams& streams) {
  const InterruptGuard guard;
  Progress progress(streams.err, streams.terminal && !plan.quiet);
  std::vector<TimedRow> rows;
  const std::size_t all = plan.cells.size() * plan.lengths.size();
  for (const Cell& cell : plan.cells) {
    DecoderOptions options = plan.options;
    options.seed = cell.seed;
    for (const std::uint64_t length : plan.lengths) {
      progress.update(static_cast<double>(rows.size()) / static_cast<double>(all),
                      cell.spec.label());
      Result<SpeedRow> row = time_decoder(plan.model, cell.spec, options, length, plan.tokens);
      if (interrupted()) {
        return io_error("interrupted after " + std::to_string(rows.size()) + " of " +
                        std::to_string(all) + " rows");
      }
      if (!row) return Error{row.error().kind, cell.spec.label() + ": " + row.error().message};
      rows.push_back({cell, *row});
    }
  }
  return rows;
}

std::string formatted(const char* format, double value) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

Table table_of(const std::vector<TimedRow>& rows) {
  Table result;
  result.columns = {{.title = "policy", .name = "policy"},
                    {.title = "budget", .name = "budget", .number = true},
                    {.title = "length", .name = "length", .number = true},
                    {.title = "first ms", .name = "first_token_ms", .number = true},
                    {.title = "token ms", .name = "token_ms", .number = true},
                    {.title = "tokens/s", .name = "tokens_per_s", .number = true},
                    {.title = "attention ms", .name = "attention_ms", .number = true},
                    {.title = "KV KiB", .name = "kv_bytes", .number = true},
                    {.title = "peak MiB", .name = "peak_bytes", .number = true}};
  const auto same = [](const std::string& text) { return Entry{text, text}; };
  const auto real = [](double value) {
    return Entry{formatted("%.3g", value), formatted("%.9g", value)};
  };
  for (const TimedRow& row : rows) {
    const Spec& spec = row.cell.spec;
    const SpeedRow& speed = row.speed;
    const auto bytes = [](std::size_t count, double unit) {
      return Entry{formatted("%.0f", static_cast<double>(count) / unit), std::to_string(count)};
    };
    result.rows.push_back(
        {same(spec.label()), same(spec.bounded() ? std::to_string(spec.budget) : "all"),
         same(std::to_string(speed.length)), real(1e3 * speed.first_token_s),
         real(1e3 * speed.token_s), real(1 / speed.token_s), real(1e3 * speed.attention_s),
         bytes(speed.kv_bytes, 1024), bytes(speed.peak_bytes, 1024 * 1024)});
  }
  return result;
}

std::string json_of(const SpeedPlan& plan, const TimedRow& row) {
  return JsonObject()
             .add("model", plan.path)
             .add("weights", plan.weights)
             .add("weight_bytes", std::uint64_t{plan.model.weight_bytes()})
             .add("spec", row.cell.spec.canonical())
             .add("seed", row.cell.seed)
             .add("length", std::uint64_t{row.speed.length})
             .add("tokens", std::uint64_t{plan.tokens})
             .add("first_token_s", row.speed.first_token_s)
             .add("token_s", row.speed.token_s)
             .add("tokens_per_s", 1 / row.speed.token_s)
             .add("attention_s", row.speed.attention_s)
             .add("kv_bytes", std::uint64_t{row.speed.kv_bytes})
             .add("peak_bytes", std::uint64_t{row.speed.peak_bytes})
             .text() +
         "\n";
}

Result<void> run(std::span<const std::string> given, Streams& streams) {
  const Result<Words> words = Words::parse(table, given);
  if (!words) return words.error();
  const Result<SpeedPlan> plan = plan_speed(*words);
  if (!plan) return plan.error();
  const Result<std::vector<TimedRow>> rows = time_all(*plan, streams);
  if (!rows) return rows.error();
  const Table timed = table_of(*rows);
  std::string json;
  for (const TimedRow& row : *rows) json += json_of(*plan, row);
  if (plan->json == "-") {
    streams.out << json;
  } else if (plan->csv == "-") {
    streams.out << to_csv(timed);
  } else {
    streams.out << plan->path << ": " << plan->model.weight_bytes()
                << " bytes of weights; medians of " << plan->tokens << " tokens\n\n"
                << to_text(timed, 0);
  }
  if (!plan->json.empty() && plan->json != "-") {
    if (auto written = write_file(plan->json, json); !written) return written;
  }
  if (plan->csv.empty() || plan->csv == "-") return {};
  return write_file(plan->csv, to_csv(timed));
}

}  // namespace

constinit const Command speed_command = {
    .name = "speed",
    .summary = "time a real model on what each policy leaves, over growing lengths",
    .help = help,
    .run = done_unless_error<run>,
    .options = table,
};

}  // namespace kv::cli
