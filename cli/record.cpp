#include "cli/record.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <ostream>
#include <utility>

#include "base/words.h"
#include "cli/interrupt.h"
#include "cli/model_words.h"
#include "cli/progress.h"
#include "model/record.h"
#include "model/text_streams.h"

namespace kv::cli {
namespace {

constexpr std::array<Option, 17> table = {{
    model_option,
    weights_option,
    tokenizer_option,
    {.name = "text", .value = "FILE", .help = "UTF-8 text to read"},
    {.name = "output", .letter = 'o', .value = "FILE", .help = "the trace to write"},
    {.name = "kind",
     .value = "qkv|attention",
     .default_value = "qkv",
     .help = "queries, keys and values, or rows of attention (as many numbers as tokens squared)"},
    {.name = "tokens", .value = "N", .default_value = "512", .help = "how many tokens are taken"},
    {.name = "layers", .value = "N,...", .help = "which layers, from 0 [all]"},
    {.name = "kv-heads",
     .value = "N,...",
     .help = "which kv-heads, each with the query heads that read it [all]"},
    {.name = "storage",
     .value = "f32|f16|bf16",
     .default_value = "f16",
     .help = "the numbers of the trace"},
    {.name = "chunk", .value = "N", .default_value = "64", .help = "tokens per forward pass"},
    {.name = "split",
     .value = "WORD",
     .help = "cut the text at this word into pieces without outer blanks, and join those"},
    {.name = "mark", .help = "the begin token stands before every piece, not only the first"},
    {.name = "source", .value = "TEXT", .help = "where text and weights come from, for the trace"},
    {.name = "licence", .value = "TEXT", .help = "their licence, for the trace"},
    {.name = "quiet", .letter = 'q', .help = "no progress"},
    {.name = "help", .letter = 'h', .help = "this text"},
}};

constexpr std::string_view help =
    "Runs a real model over a text with nothing evicted, and writes what kvcheck replay reads.\n"
    "\n"
    "Usage:  kvcheck record --model PATH --text FILE -o FILE [OPTIONS]\n"
    "\n"
    "Memory does not grow with the trace: its numbers wait on disk, once more as f32.\n"
    "\n"
    "{options}\n"
    "\n"
    "Examples:\n"
    "  kvcheck record --model pythia-70m --text book.txt -o book.qkv.safetensors\n"
    "  kvcheck record --model gpt2 --text book.txt --kind attention --layers 0,5,11 \\\n"
    "      --tokens 1024 -o book.attention.safetensors\n"
    "\n"
    "Exit status: 0 done, 2 usage or bad input, 130 interrupted.\n";

Result<RecordOptions> record_options(const Words& words, const OpenedModel& opened) {
  RecordOptions options;
  constexpr std::array<std::string_view, 2> kinds = {"attention", "qkv"};
  const std::string kind = words.value("kind");
  if (std::ranges::find(kinds, kind) == kinds.end()) {
    return usage_error(unknown_word("--kind", kind, kinds));
  }
  options.kind = kind == "qkv" ? TraceKind::qkv : TraceKind::attention;
  const Result<Number> number = storage_number(words);
  if (!number) return number.error();
  options.number = *number;
  const auto read = [&](const char* name, std::vector<std::size_t>& into) -> Result<void> {
    const auto counts = words.counts(name, 0, 65535);
    if (!counts) return counts.error();
    into.assign(counts->begin(), counts->end());
    std::ranges::sort(into);
    return {};
  };
  if (auto done = read("layers", options.layers); !done) return done.error();
  if (auto done = read("kv-heads", options.kv_heads); !done) return done.error();
  const auto chunk = words.count("chunk", 1, 65536);
  if (!chunk) return chunk.error();
  options.chunk = chunk->value();
  options.model = std::filesystem::path(opened.path).filename().string();
  options.source = words.value("source");
  options.licence = words.value("licence");
  return options;
}

Result<std::vector<Token>> read_tokens(const Words& words, const OpenedModel& opened) {
  const Result<std::string> text = read_text_file(words);
  if (!text) return text.error();
  const auto tokens = words.count("tokens", 2, std::uint64_t{1} << 24);
  if (!tokens) return tokens.error();
  auto streams = streams_of(*text, *opened.tokenizer,
                            {.separator = words.value("split"),
                             .begin = opened.model.config.begin_token,
                             .mark = words.given("mark"),
                             .tokens = tokens->value()});
  if (!streams)
    return Error{streams.error().kind, words.value("text") + ": " + streams.error().message};
  return std::move(streams->front());
}

// What is read may not be replaced.
Result<void> check_output(const std::string& path, const Words& words) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const auto same = [&](const fs::path& other) { return fs::equivalent(path, other, ignored); };
  if (same(words.value("text"))) return usage_error("-o '" + path + "' would replace the text");
  const fs::path model = words.value("model");
  const fs::path folder = fs::is_directory(model, ignored) ? model : model.parent_path();
  for (const auto& entry : fs::directory_iterator(folder.empty() ? "." : folder, ignored)) {
    const bool weights = fs::is_directory(model, ignored) || same(model);
    if (weights && same(entry.path())) {
      return usage_error("-o '" + path + "' would replace a file of the model");
    }
  }
  return {};
}

Result<void> run(std::span<const std::string> given, Streams& streams) {
  const Result<Words> words = Words::parse(table, given);
  if (!words) return words.error();
  if (auto none = words->expect_operands("operand", 0, 0); !none) return none;
  const std::string path = words->value("output");
  if (path.empty() || path == "-") return usage_error("a trace needs a file; expected -o FILE");
  const Result<OpenedModel> opened = opened_model(*words);
  if (!opened) return opened.error();
  const Result<RecordOptions> options = record_options(*words, *opened);
  if (!options) return options.error();
  const Result<std::vector<Token>> tokens = read_tokens(*words, *opened);
  if (!tokens) return tokens.error();
  if (auto fine = check_output(path, *words); !fine) return fine;

  const InterruptGuard guard;
  Progress progress(streams.err, streams.terminal && !words->given("quiet"));
  const auto report = [&](double share) {
    progress.update(share, "recording");
    return !interrupted();
  };
  Result<void> done = record(opened->model, *opened->tokenizer, *tokens, *options, path, report);
  progress.clear();
  if (interrupted()) return io_error("interrupted; nothing was written");
  if (!done) return done;
  streams.err << "wrote " << path << ": " << tokens->size() << " tokens\n";
  return {};
}

}  // namespace

constinit const Command record_command = {
    .name = "record",
    .summary = "run a real model over a text with nothing evicted, and write a trace",
    .help = help,
    .run = done_unless_error<run>,
    .options = table,
};

}  // namespace kv::cli
