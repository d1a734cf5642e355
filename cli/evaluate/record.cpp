#include "kvcheck/cli/evaluate/record.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <ostream>
#include <utility>

#include "kvcheck/base/file.h"
#include "kvcheck/base/folder.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/cli/evaluate/record_input.h"
#include "kvcheck/cli/evaluate/record_tasks.h"
#include "kvcheck/cli/model/model_options.h"
#include "kvcheck/cli/model/repeated_prompts.h"
#include "kvcheck/cli/options/interrupt.h"
#include "kvcheck/cli/options/progress.h"
#include "kvcheck/cli/replay/marks.h"
#include "kvcheck/model/run/record.h"
#include "kvcheck/traces/files/safetensors.h"
#include "kvcheck/traces/metadata.h"

namespace kv::cli {
namespace {

constexpr std::array<Option, 30> table = {{
    model_option,
    weights_option,
    tokenizer_option,
    {.name = "text", .value = "FILE", .help = "UTF-8 text to read"},
    {.name = "tasks",
     .value = "FILE",
     .help = "the items of this file instead of a text (docs/tasks.md): a trace of each, of "
             "context, question and right answer with their marks; -o then names a folder"},
    ids_option,
    no_begin_option,
    {.name = "output", .letter = 'o', .value = "FILE", .help = "the trace to write"},
    {.name = "kind",
     .value = "qkv|attention",
     .default_value = "qkv",
     .help = "queries, keys and values, or rows of attention (as many numbers as tokens squared)"},
    {.name = "tokens", .value = "N", .default_value = "512", .help = "how many tokens to record"},
    {.name = "skip",
     .value = "N",
     .default_value = "0",
     .help = "how many first tokens of the text to skip; the begin token is kept"},
    {.name = "layers", .value = "N,...", .help = "which layers, from 0 [all]"},
    {.name = "kv-heads",
     .value = "N,...",
     .help = "which kv-heads, each with the query heads that read it [all]"},
    {.name = "queries",
     .value = "WHICH",
     .help =
         "which queries, with the keys and values of all tokens: 64/1000 (64 of every 1,000, "
         "drawn by --seed), every:16, positions such as 0-511, the marked parts prompt, question "
         "and answer, or several with commas [all]"},
    {.name = "no-losses",
     .help = "leave out the loss of each token; layers above the last recorded one are then not "
             "run"},
    {.name = "storage",
     .value = "f32|f16|bf16",
     .default_value = "f16",
     .help = "the numbers of the trace"},
    {.name = "policy",
     .value = "SPEC",
     .default_value = "dense",
     .help = "a policy with its fields, or a preset (@name), that the model runs under"},
    {.name = "budget",
     .value = "N",
     .help = "residents to keep after trimming, if the spec names no budget"},
    {.name = "chunk",
     .value = "N",
     .help = "tokens per forward pass [64 if nothing is evicted, else that of the spec]"},
    prompt_option,
    question_option,
    {.name = "seed",
     .value = "N",
     .default_value = "1",
     .help = "the seed of policies that draw, and of --queries"},
    {.name = "split",
     .value = "WORD",
     .help = "cut the text at this word into pieces, trim their blanks, and join them"},
    {.name = "mark", .help = "put the begin token before every piece, not only before the first"},
    {.name = "source",
     .value = "TEXT",
     .help = "the origin of text and weights, stored in the trace"},
    {.name = "licence", .value = "TEXT", .help = "their licence, stored in the trace"},
    threads_option,
    {.name = "resume",
     .help = "keep what is done in FILE.unfinished while it runs, and continue from what an "
             "interrupted run of the same command left there; one of another is refused"},
    {.name = "quiet", .letter = 'q', .help = "no progress and no notes"},
    {.name = "help", .letter = 'h', .help = "this text"},
}};

constexpr std::string_view help =
    "Runs a real model over a text, and writes a trace for kvcheck replay.\n"
    "\n"
    "Usage:  kvcheck record --model PATH --text FILE -o FILE [OPTIONS]\n"
    "        kvcheck record --model PATH --tasks FILE -o FOLDER [OPTIONS]\n"
    "\n"
    "Nothing is evicted unless a --policy is given. Then the model runs under that policy, and\n"
    "the trace names it. Rows of attention are 0 for tokens that were evicted. Queries, keys and\n"
    "values are those of the same run, but a replay computes attention over all of their tokens.\n"
    "The trace's numbers are on disk as f32 until they are written, so memory does not grow with\n"
    "them and the disk needs room for them too. Without a policy, q/k/v are recorded layer by\n"
    "layer: memory is that of the keys and values of one layer, and --resume continues a run that\n"
    "was interrupted or killed, with the same bytes as without. The trace appears whole or not at\n"
    "all.\n"
    "\n"
    "Of a long text, --queries records some queries only. A replay then estimates its means over\n"
    "all queries, with intervals, where these queries were drawn (K/N).\n"
    "\n"
    "{options}\n"
    "\n"
    "Examples:\n"
    "  kvcheck record --model pythia-70m --text book.txt -o book.qkv.safetensors\n"
    "  kvcheck record --model gpt2 --text book.txt --kind attention --layers 0,5,11 \\\n"
    "      --tokens 1024 -o book.attention.safetensors\n"
    "  kvcheck record --model gpt2 --text book.txt --kind attention --policy streaming \\\n"
    "      --budget 128 --skip 4096 -o book.streaming.safetensors\n"
    "  kvcheck record --model llama-1b --text book.txt --tokens 32768 --layers 0,4,8,12 \\\n"
    "      --queries 64/1000 --resume -o book.sampled.safetensors\n"
    "  kvcheck record --model model/data --tasks items.jsonl --kind attention -o items\n"
    "\n"
    "Exit status: 0 done, 2 usage or bad input, 130 interrupted.\n";

Result<QueryDesign> queries_of(const Arguments& arguments) {
  Result<QueryDesign> design = parse_query_design(arguments.value("queries"));
  if (design) return design;
  return usage_error("--queries: " + design.error().message);
}

Result<model::RecordOptions> record_options(const Arguments& arguments, const OpenedModel& opened) {
  model::RecordOptions options;
  constexpr std::array<std::string_view, 2> kinds = {"attention", "qkv"};
  const std::string kind = arguments.value("kind");
  if (std::ranges::find(kinds, kind) == kinds.end()) {
    return usage_error(unknown_word("--kind", kind, kinds));
  }
  options.kind = kind == "qkv" ? TraceKind::qkv : TraceKind::attention;
  const Result<Number> number = storage_number(arguments);
  if (!number) return number.error();
  options.number = *number;
  const auto read = [&](const char* name, std::vector<std::size_t>& into) -> Result<void> {
    const auto counts = arguments.counts(name, 0, 65535);
    if (!counts) return counts.error();
    into.assign(counts->begin(), counts->end());
    std::ranges::sort(into);
    return {};
  };
  if (auto done = read("layers", options.layers); !done) return done.error();
  if (auto done = read("kv-heads", options.kv_heads); !done) return done.error();
  if (arguments.given("queries")) {
    auto design = queries_of(arguments);
    if (!design) return design.error();
    options.queries = *std::move(design);
  }
  options.losses = !arguments.given("no-losses");
  const Result<Cell> cell = model_cell(arguments);
  if (!cell) return cell.error();
  options.cell = *cell;
  options.query_seed = cell->seed;
  // Without eviction the chunk does not change the trace, and a chunk of 1 is slow.
  const bool open = !arguments.given("chunk") && cell->spec.chunk == 1;
  if (!cell->spec.bounded() && open) options.cell->spec.chunk = 64;
  options.token_classes = token_classes_for(opened, {&*cell, 1});
  options.repeat_request = repeat_request_for(opened, {&*cell, 1});
  options.model = std::filesystem::path(opened.path).filename().string();
  options.source = arguments.value("source");
  options.licence = arguments.value("licence");
  const Result<Marks> marks = marks_of(arguments);
  if (!marks) return marks.error();
  options.marks = *marks;
  const auto team = team_of(arguments);
  if (!team) return team.error();
  options.team = *team;
  return options;
}

bool is_trace(const std::string& path) {
  const auto file = MappedFile::open(path);
  if (!file) return false;
  const auto content = parse_safetensors(file->bytes());
  return content && read_trace_metadata(content->metadata);
}

// Returns an error if the output would replace a file that is read. A trace beside the model is
// none: an earlier recording may have put it there.
Result<void> check_output(const std::string& path, const Arguments& arguments) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const auto same = [&](const fs::path& other) { return fs::equivalent(path, other, ignored); };
  if (same(arguments.value("text"))) return usage_error("-o '" + path + "' would replace the text");
  const fs::path model = arguments.value("model");
  const fs::path folder = fs::is_directory(model, ignored) ? model : model.parent_path();
  const auto entries = entries_of(folder.empty() ? "." : folder.string());
  if (!entries) return entries.error();
  for (const FolderEntry& entry : *entries) {
    const bool weights = fs::is_directory(model, ignored) || same(model);
    if (weights && same(folder / entry.name) && !is_trace(path)) {
      return usage_error("-o '" + path + "' would replace a file of the model");
    }
  }
  return {};
}

Result<void> run(std::span<const std::string> given, Streams& streams) {
  const Result<Arguments> arguments = Arguments::parse(table, given);
  if (!arguments) return arguments.error();
  if (auto none = arguments->expect_operands("operand", 0, 0); !none) return none;
  const std::string path = arguments->value("output");
  if (path.empty() || path == "-") {
    return usage_error(arguments->given("tasks") ? "the traces need a folder; expected -o FOLDER"
                                                 : "a trace needs a file; expected -o FILE");
  }
  const Result<OpenedModel> opened = opened_model(*arguments);
  if (!opened) return opened.error();
  Result<model::RecordOptions> options = record_options(*arguments, *opened);
  if (!options) return options.error();
  if (arguments->given("tasks")) return record_tasks(*arguments, *opened, *options, streams);
  const Result<RecordedText> text = recorded_text(*arguments, *opened);
  if (!text) return text.error();
  const std::vector<model::TokenId>& tokens = text->tokens;
  if (auto fine = check_output(path, *arguments); !fine) return fine;
  if (arguments->given("resume")) {
    auto identity = identity_of(*arguments, table, tokens);
    if (!identity) return identity.error();
    options->identity = *std::move(identity);
  }

  // Once nothing is refused any more.
  auto say_notes = [&, said = arguments->given("quiet")]() mutable {
    if (std::exchange(said, true)) return;
    for (const std::string& note : text->notes) streams.err << "Note: " << note << ".\n";
  };
  const InterruptGuard guard;
  Progress progress(streams.err, streams.terminal && !arguments->given("quiet"));
  const auto report = [&](double share) {
    say_notes();
    progress.update(share, "recording");
    return !interrupted();
  };
  Result<void> done =
      model::record(opened->model, *opened->tokenizer, tokens, *options, path, report);
  progress.clear();
  if (interrupted()) {
    return io_error("interrupted; nothing was written" +
                    (options->identity.empty()
                         ? std::string()
                         : ", and what is done is kept in '" + path +
                               ".unfinished': the same command continues from it"));
  }
  if (!done) return done;
  say_notes();
  streams.err << "wrote " << path << ": " << tokens.size() << " tokens\n";
  return {};
}

}  // namespace

constinit const Command record_command = {
    .name = "record",
    .summary = "run a real model over a text, dense or under a policy, and write a trace",
    .help = help,
    .run = done_unless_error<run>,
    .options = table,
};

}  // namespace kv::cli
