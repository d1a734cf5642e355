#include "cli/eval.h"

#include <array>
#include <cstdio>
#include <ostream>
#include <utility>

#include "base/file.h"
#include "base/json_text.h"
#include "cli/interrupt.h"
#include "cli/model_words.h"
#include "cli/progress.h"
#include "model/evaluate.h"
#include "reports/tables.h"

namespace kv::cli {
namespace {

constexpr std::array<Option, 17> table = {{
    model_option,
    tokenizer_option,
    {.name = "text", .value = "FILE", .help = "UTF-8 text to predict"},
    policy_option,
    {.name = "budget",
     .value = "N,...",
     .help = "residents that may stay after trimming, for policies whose spec leaves that open"},
    {.name = "chunk",
     .value = "N",
     .help = "tokens per forward pass, for specs that leave it open"},
    {.name = "tokens", .value = "N", .help = "how many tokens of the text are taken [all]"},
    {.name = "split",
     .value = "WORD",
     .help = "cut the text at this word into pieces without outer blanks, and join those"},
    {.name = "each", .help = "every piece is a stream of its own, with an empty cache"},
    {.name = "mark", .help = "the begin token stands before every piece, not only the first"},
    {.name = "segment",
     .value = "N",
     .default_value = "256",
     .help = "perplexity is also given for the first N targets, the next N, the next 2N, ..."},
    {.name = "seed", .value = "N", .default_value = "1", .help = "the seed of policies that draw"},
    storage_option,
    keys_option,
    {.name = "json", .value = "FILE", .help = "write JSON lines there; - is standard output"},
    {.name = "quiet", .letter = 'q', .help = "no progress"},
    {.name = "help", .letter = 'h', .help = "this text"},
}};

constexpr std::string_view help =
    "Runs a real model over a text on what each policy leaves, and prints its perplexity.\n"
    "\n"
    "Usage:  kvcheck eval --model PATH --text FILE [--policy SPEC...] [OPTIONS]\n"
    "\n"
    "The loop is closed: keys and values come from a model that saw only what the policy kept. "
    "The\n"
    "cache goes on over the whole text; every token but the first is predicted exactly once,\n"
    "whatever the chunk. The begin token, if the model has one, goes before the text.\n"
    "\n"
    "{options}\n"
    "\n"
    "Examples:\n"
    "  kvcheck eval --model pythia-70m --text book.txt --policy dense \\\n"
    "      --policy 'streaming:sinks=4;positions=in-cache' --budget 256,512 --tokens 4096\n"
    "  kvcheck eval --model stories260K.bin --tokenizer tok512.bin --text stories.txt \\\n"
    "      --split '<|endoftext|>' --policy window --budget 64,128 --json -\n"
    "\n"
    "Exit status: 0 done, 2 usage or bad input, 130 interrupted.\n";

struct EvalPlan {
  OpenedModel opened;
  std::vector<Cell> cells;
  std::vector<std::vector<Token>> streams;
  DecoderOptions options;
  std::size_t segment = 256;
  std::string json;
  bool quiet = false;
};

struct EvalRow {
  Cell cell;
  Evaluation evaluation;
};

Result<std::vector<std::vector<Token>>> read_streams(const Words& words,
                                                     const OpenedModel& opened) {
  const Result<std::string> text = read_text_file(words);
  if (!text) return text.error();
  const auto tokens = words.count("tokens", 2, std::uint64_t{1} << 31);
  if (!tokens) return tokens.error();
  TextOptions options;
  options.separator = words.value("split");
  options.each = words.given("each");
  options.mark = words.given("mark");
  options.begin = opened.model.config.begin_token;
  options.tokens = tokens->value_or(0);
  if (options.separator.empty() && (options.each || options.mark)) {
    return usage_error("--each and --mark are about the pieces that --split makes; expected both");
  }
  auto streams = streams_of(*text, *opened.tokenizer, options);
  if (!streams)
    return Error{streams.error().kind, words.value("text") + ": " + streams.error().message};
  return streams;
}

Result<EvalPlan> plan_eval(const Words& words) {
  if (const auto none = words.expect_operands("operand", 0, 0); !none) return none.error();
  EvalPlan plan;
  Result<std::vector<Cell>> cells = model_cells(words, {"dense"});
  if (!cells) return cells.error();
  plan.cells = *std::move(cells);
  const Result<DecoderOptions> options = decoder_options(words);
  if (!options) return options.error();
  plan.options = *options;
  const auto segment = words.count("segment", 1, std::uint64_t{1} << 31);
  if (!segment) return segment.error();
  plan.segment = segment->value();
  plan.json = words.value("json");
  plan.quiet = words.given("quiet");
  Result<OpenedModel> opened = opened_model(words);
  if (!opened) return opened.error();
  plan.opened = *std::move(opened);
  auto streams = read_streams(words, plan.opened);
  if (!streams) return streams.error();
  plan.streams = *std::move(streams);
  return plan;
}

std::string rounded(double value) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), value < 100 ? "%.3f" : "%.1f", value);
  return text.data();
}

Table table_of(const EvalPlan& plan, const std::vector<EvalRow>& rows) {
  Table result;
  result.columns = {{.title = "policy", .name = "policy"},
                    {.title = "budget", .name = "budget", .number = true},
                    {.title = "perplexity", .name = "perplexity", .number = true},
                    {.title = "KiB", .name = "kv_kib", .number = true}};
  for (const Segment& segment : segments_of(rows.front().evaluation, plan.segment)) {
    const std::string range = std::to_string(segment.first) + "-" + std::to_string(segment.last);
    result.columns.push_back({.title = range, .name = "perplexity_" + range, .number = true});
  }
  const auto number = [](const std::string& text) { return Entry{text, text}; };
  for (const EvalRow& row : rows) {
    const Spec& spec = row.cell.spec;
    const std::size_t kib = (row.evaluation.kv_bytes + 1023) / 1024;
    std::vector<Entry> entries = {
        number(spec.label()), number(spec.bounded() ? std::to_string(spec.budget) : "all"),
        number(rounded(row.evaluation.perplexity())), number(std::to_string(kib))};
    for (const Segment& segment : segments_of(row.evaluation, plan.segment)) {
      entries.push_back(number(rounded(segment.perplexity())));
    }
    result.rows.push_back(std::move(entries));
  }
  return result;
}

std::string json_of(const EvalPlan& plan, const EvalRow& row) {
  std::string segments;
  for (const Segment& segment : segments_of(row.evaluation, plan.segment)) {
    segments += (segments.empty() ? "" : ",") + JsonObject()
                                                    .add("first", std::uint64_t{segment.first})
                                                    .add("last", std::uint64_t{segment.last})
                                                    .add("targets", std::uint64_t{segment.targets})
                                                    .add("perplexity", segment.perplexity())
                                                    .text();
  }
  return JsonObject()
             .add("model", plan.opened.path)
             .add("spec", row.cell.spec.canonical())
             .add("seed", row.cell.seed)
             .add("streams", std::uint64_t{plan.streams.size()})
             .add("targets", std::uint64_t{row.evaluation.targets()})
             .add("perplexity", row.evaluation.perplexity())
             .add("kv_bytes", std::uint64_t{row.evaluation.kv_bytes})
             .add_raw("segments", "[" + segments + "]")
             .text() +
         "\n";
}

Result<std::vector<EvalRow>> evaluate_all(const EvalPlan& plan, Streams& streams) {
  const InterruptGuard guard;
  Progress progress(streams.err, streams.terminal && !plan.quiet);
  std::vector<EvalRow> rows;
  for (const Cell& cell : plan.cells) {
    DecoderOptions options = plan.options;
    options.seed = cell.seed;
    const auto report = [&](double share) {
      const auto before = static_cast<double>(rows.size());
      progress.update((before + share) / static_cast<double>(plan.cells.size()), cell.spec.label());
      return !interrupted();
    };
    Result<Evaluation> done = evaluate(plan.opened.model, cell.spec, plan.streams, options, report);
    if (interrupted()) {
      return io_error("interrupted after " + std::to_string(rows.size()) + " of " +
                      std::to_string(plan.cells.size()) + " policies");
    }
    if (!done) return Error{done.error().kind, cell.spec.label() + ": " + done.error().message};
    rows.push_back({cell, *std::move(done)});
  }
  return rows;
}

Result<void> run(std::span<const std::string> given, Streams& streams) {
  const Result<Words> words = Words::parse(table, given);
  if (!words) return words.error();
  const Result<EvalPlan> plan = plan_eval(*words);
  if (!plan) return plan.error();
  const Result<std::vector<EvalRow>> rows = evaluate_all(*plan, streams);
  if (!rows) return rows.error();
  std::string json;
  for (const EvalRow& row : *rows) json += json_of(*plan, row);
  if (plan->json == "-") {
    streams.out << json;
    return {};
  }
  std::size_t tokens = 0;
  for (const auto& stream : plan->streams) tokens += stream.size();
  streams.out << plan->opened.path << ": " << tokens << " tokens in " << plan->streams.size()
              << (plan->streams.size() == 1 ? " stream" : " streams")
              << "; closed loop; perplexity, and over runs of targets\n\n"
              << to_text(table_of(*plan, *rows), 0);
  return plan->json.empty() ? Result<void>() : write_file(plan->json, json);
}

}  // namespace

constinit const Command eval_command = {
    .name = "eval",
    .summary = "run a real model over a text on what each policy leaves, and print its perplexity",
    .help = help,
    .run = done_unless_error<run>,
    .options = table,
};

}  // namespace kv::cli
