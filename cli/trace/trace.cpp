#include "kvcheck/cli/trace/trace.h"

#include <algorithm>
#include <array>
#include <ostream>
#include <utility>
#include <vector>

#include "kvcheck/base/text/describe.h"
#include "kvcheck/base/text/printable.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/cli/options/options.h"
#include "kvcheck/cli/options/progress.h"
#include "kvcheck/cli/options/terminal.h"
#include "kvcheck/cli/replay/kv_heads.h"
#include "kvcheck/cli/trace/trace_generate.h"
#include "kvcheck/cli/trace/trace_options.h"
#include "kvcheck/cli/trace/trace_text.h"
#include "kvcheck/traces/files/dump.h"
#include "kvcheck/traces/files/edit.h"
#include "kvcheck/traces/trace.h"
#include "kvcheck/traces/verify.h"

namespace kv::cli {
namespace {

constexpr Option output_option{.name = "output",
                               .letter = 'o',
                               .value = "FILE",
                               .help = "where to write; the file appears whole or not at all"};
constexpr Option dtype_option{
    .name = "dtype", .value = "TYPE", .help = "f32, f16 or bf16; without it, the type is kept"};
constexpr Option layers_option{
    .name = "layers", .value = "LIST", .help = "layers by the model's numbers, such as 0,3-5"};
constexpr Option heads_option{
    .name = "heads",
    .value = "LIST",
    .help = "query heads, such as 0-1; heads that share a kv-head must be kept together"};
constexpr Option tokens_option{.name = "tokens",
                               .value = "N",
                               .help =
                                   "how many tokens to keep, from the first on; a later part would "
                                   "not be a recording, because "
                                   "what a model computes depends on all tokens before"};
constexpr Option queries_option{
    .name = "queries",
    .value = "WHICH",
    .help =
        "which queries to keep, with the keys and values of all tokens: 64/1000 (64 of every "
        "1,000, drawn by --seed), every:16, positions such as 0-511, the marked parts prompt, "
        "question and answer, or several with commas"};
constexpr Option seed_option{
    .name = "seed", .value = "N", .default_value = "1", .help = "the seed of --queries"};
constexpr Option model_option{.name = "model",
                              .value = "TEXT",
                              .help = "convert: the name of the model, stored in the trace"};
constexpr Option source_option{
    .name = "source",
    .value = "TEXT",
    .help = "convert: the text and how it was recorded, stored in the trace"};
constexpr Option licence_option{
    .name = "licence",
    .value = "TEXT",
    .help = "convert: the licence of weights and text, stored in the trace"};
constexpr Option words_option{
    .name = "words",
    .value = "FILE",
    .help =
        "convert: a JSON list with the text of each token, such as [tokenizer.decode([i]) for i "
        "in ids] gives; replaces the text that the trace has"};
constexpr Option json_option{.name = "json", .help = "one JSON object per file and line"};
constexpr Option help_option{.name = "help", .letter = 'h', .help = "this text"};

constexpr std::array look_table{json_option, help_option};
constexpr std::array convert_table{output_option,        dtype_option,   kv_heads_option,
                                   learned_sinks_option, words_option,   model_option,
                                   source_option,        licence_option, help_option};
constexpr std::array slice_table{output_option, dtype_option,   layers_option, heads_option,
                                 tokens_option, queries_option, seed_option,   help_option};
constexpr std::array whole_table{output_option, dtype_option, kv_heads_option, learned_sinks_option,
                                 words_option,  model_option, source_option,   licence_option,
                                 layers_option, heads_option, tokens_option,   queries_option,
                                 seed_option,   json_option,  help_option};

constexpr std::string_view help =
    R"(Looks at traces, checks them, and makes new ones from them.

Usage:  kvcheck trace info FILE... [--json]
        kvcheck trace verify FILE... [--json]
        kvcheck trace convert IN -o OUT [--dtype TYPE] [--kv-heads N] [--learned-sinks]
                              [--words FILE] [--model TEXT] [--source TEXT] [--licence TEXT]
        kvcheck trace generate NAME[:FIELD=VALUE,...] -o FILE [OPTIONS]
        kvcheck trace slice IN -o OUT [--layers LIST] [--heads LIST] [--tokens N] [--dtype TYPE]
                              [--queries WHICH] [--seed N]

A trace is a safetensors file in the form of traces/FORMAT.md, or an attention dump: a NumPy
array (.npy, .npz) of shape [layers, heads, queries, keys] or [heads, queries, keys].

  info      describe a trace from its header and checksum, without checking its numbers
  verify    check every number: finite, not negative, nothing above the diagonal, rows that
            sum to 1 within what the number type allows (or to less beside learned sinks)
  convert   write the same trace in the current form of the format, or in another type;
            numbers are rounded to the nearest, and one that does not fit is an error;
            it can add model, source, licence, kv-heads, learned sinks and the text of each
            token, which a dump cannot hold or lacks
  generate  make a synthetic trace that says what it planted; kvcheck trace generate --help
  slice     write a part of a trace: some layers, some heads, the first tokens, some queries

{options}

Examples:
  kvcheck trace info traces/data/tinystories-2m.qkv.safetensors
  kvcheck trace verify attention.npz
  kvcheck trace convert attention.npy -o attention.safetensors --dtype f16 --model gpt2
  kvcheck trace convert llama.npy -o llama.safetensors --kv-heads 8 --words words.json
  kvcheck trace slice big.safetensors -o small.safetensors --layers 0,3-5 --tokens 256
  kvcheck trace slice big.safetensors -o sample.safetensors --queries 64/1000
)";

// Runs `look` on every file, also after a wrong one, so that one bad file does not hide the next.
template <typename Look>
Result<void> for_each_file(const Arguments& arguments, Streams& streams, const Look& look) {
  if (arguments.operands().empty())
    return usage_error("no file is named; expected at least one trace");
  std::vector<Error> errors;
  for (const std::string& file : arguments.operands()) {
    const Result<std::string> text = look(file);
    if (text) {
      const bool for_programs = text.value().starts_with('{');
      streams.out << folded(text.value(), for_programs ? 0 : streams.columns);
    } else {
      errors.push_back(text.error());
    }
  }
  if (errors.empty()) return {};
  if (errors.size() == 1) return errors[0];
  for (const Error& error : errors) streams.err << printable(error.message) << "\n";
  return malformed(std::to_string(errors.size()) + " of " +
                   std::to_string(arguments.operands().size()) + " files are not valid traces");
}

// Opens a trace and shows meanwhile how much of it has been read for its checksum.
Result<Trace> open_shown(const std::string& file, Streams& streams) {
  Progress progress(streams.err, streams.terminal);
  return open_trace(file, [&](double share) { progress.update(share, "reading " + file); });
}

Result<void> info(const Arguments& arguments, Streams& streams) {
  return for_each_file(arguments, streams, [&](const std::string& file) -> Result<std::string> {
    const Result<Trace> trace = open_shown(file, streams);
    if (!trace) return trace.error();
    return arguments.given("json") ? trace_json(trace.value()) + "\n"
                                   : describe_trace(trace.value());
  });
}

Result<void> verify_files(const Arguments& arguments, Streams& streams) {
  return for_each_file(arguments, streams, [&](const std::string& file) -> Result<std::string> {
    const Result<Trace> trace = open_shown(file, streams);
    if (!trace) return trace.error();
    const Result<VerifyResult> report = verify(trace.value());
    if (!report) return report.error();
    if (const Result<void> same = trace->unchanged(); !same) return same.error();
    return (arguments.given("json") ? verified_json(trace.value(), report.value())
                                    : describe_verified(trace.value(), report.value())) +
           "\n";
  });
}

Result<Number> number_from(std::string_view word) {
  constexpr std::array numbers{Number::f32, Number::f16, Number::bf16};
  std::array<std::string_view, numbers.size()> names;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    names[i] = number_name(numbers[i]);
    if (names[i] == word) return numbers[i];
  }
  return usage_error(unknown_word("dtype", word, names));
}

TraceTexts texts_from(const Arguments& arguments) {
  const auto text = [&](std::string_view name) {
    return arguments.given(name) ? std::optional(arguments.value(name)) : std::nullopt;
  };
  return {.model = text("model"), .source = text("source"), .licence = text("licence")};
}

// What convert and slice change.
struct Edit {
  Selection selection{};
  TraceTexts texts{};
  DumpOptions dump{};
  std::string words{};  // the file of --words; empty: the words of the trace
};

// The common part of convert and slice.
Result<void> edit(const Arguments& arguments, const Edit& changes, Streams& streams) {
  if (arguments.operands().size() != 1) {
    return usage_error(std::to_string(arguments.operands().size()) +
                       " input files are named; expected one");
  }
  if (!arguments.given("output")) return usage_error("no output is named; expected -o FILE");
  Result<Number> number = Number::f32;
  if (arguments.given("dtype")) number = number_from(arguments.value("dtype"));
  if (!number) return number.error();
  const std::string& input = arguments.operands()[0];
  Progress progress(streams.err, streams.terminal);
  const Result<Dump> opened = open_dump(
      input, changes.dump, [&](double share) { progress.update(share, "reading " + input); });
  progress.clear();
  if (!opened) return opened.error();
  const Trace& trace = opened->trace;
  if (!arguments.given("dtype")) number = trace.info().number;
  if (!opened->kv_heads_known) say_kv_heads(trace.info(), streams);
  TraceTexts texts = changes.texts;
  if (!changes.words.empty()) {
    auto words = words_of(changes.words, trace.info().tokens);
    if (!words) return words.error();
    texts.transcript = *std::move(words);
  }

  const std::string output = arguments.value("output");
  const auto done = rewrite(trace, changes.selection, number.value(), output, texts);
  if (!done) {
    // An io error already names the output.
    if (done.error().kind == Error::Kind::io) return done.error();
    return Error{done.error().kind, "'" + arguments.operands()[0] + "': " + done.error().message};
  }
  const Result<Trace> written = open_shown(output, streams);
  if (!written) return written.error();
  streams.out << folded(describe_trace(written.value()), streams.columns);
  return {};
}

Result<void> convert(const Arguments& arguments, Streams& streams) {
  const auto dump = dump_options(arguments);
  if (!dump) return dump.error();
  Edit changes;
  changes.texts = texts_from(arguments);
  changes.dump = *dump;
  changes.words = arguments.value("words");
  return edit(arguments, changes, streams);
}

Result<void> slice(const Arguments& arguments, Streams& streams) {
  const Result<Selection> selection = selection_from(arguments);
  if (!selection) return selection.error();
  Edit changes;
  changes.selection = *selection;
  return edit(arguments, changes, streams);
}

struct Verb {
  std::string_view name;
  std::span<const Option> options;
  Result<void> (*run)(const Arguments& arguments, Streams& streams);
};

constexpr std::array own_commands = {&trace_generate_command};

constexpr std::array verbs{Verb{"info", look_table, info}, Verb{"verify", look_table, verify_files},
                           Verb{"convert", convert_table, convert},
                           Verb{"slice", slice_table, slice}};

Result<void> run(std::span<const std::string> arguments, Streams& streams) {
  std::vector<std::string_view> names;
  names.reserve(verbs.size() + own_commands.size());
  for (const Verb& verb : verbs) names.push_back(verb.name);
  for (const Command* const verb : own_commands) names.push_back(verb->name);
  if (arguments.empty()) {
    return usage_error("expected a verb (info, verify, convert, slice or generate), found none");
  }
  const auto* const verb = std::ranges::find(verbs, arguments[0], &Verb::name);
  if (verb == verbs.end()) return usage_error(unknown_word("verb", arguments[0], names));
  const Result<Arguments> parsed = Arguments::parse(verb->options, arguments.subspan(1));
  if (!parsed) return parsed.error();
  return verb->run(parsed.value(), streams);
}

}  // namespace

constinit const Command trace_command = {
    .name = "trace",
    .summary = "look at traces, check them, and make new ones from them",
    .help = help,
    .run = done_unless_error<run>,
    .options = whole_table,
    .verbs = own_commands,
};

}  // namespace kv::cli
