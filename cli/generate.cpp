#include "cli/generate.h"

#include <algorithm>
#include <array>
#include <ostream>
#include <utility>

#include "base/words.h"
#include "cli/interrupt.h"
#include "cli/model_words.h"
#include "model/token_sampler.h"

namespace kv::cli {
namespace {

constexpr std::array<Option, 15> table = {{
    model_option,
    weights_option,
    tokenizer_option,
    {.name = "prompt", .value = "TEXT", .help = "what to go on with [nothing]"},
    {.name = "policy",
     .value = "SPEC",
     .default_value = "dense",
     .help = "a policy with its fields, or a preset (@name)"},
    {.name = "budget",
     .value = "N",
     .help = "residents that may stay, if the spec leaves that open"},
    {.name = "chunk", .value = "N", .help = "tokens of the prompt per forward pass"},
    {.name = "tokens",
     .value = "N",
     .default_value = "256",
     .help = "how many tokens to write; 0 is no limit"},
    {.name = "temperature",
     .value = "X",
     .default_value = "1",
     .help = "sharpens (below 1) or flattens the distribution; 0 takes the likeliest token"},
    {.name = "top-p",
     .value = "X",
     .default_value = "1",
     .help = "draw among the likeliest tokens that together have this probability"},
    {.name = "seed", .value = "N", .default_value = "1", .help = "the seed of all draws"},
    {.name = "trace-cache",
     .help = "say on standard error what is held, token by token; the text comes at the end"},
    storage_option,
    keys_option,
    {.name = "help", .letter = 'h', .help = "this text"},
}};

constexpr std::string_view help =
    "Lets a real model go on with a text, on what a policy leaves of it, and prints it as it "
    "comes.\n"
    "\n"
    "Usage:  kvcheck generate --model PATH [--prompt TEXT] [OPTIONS]\n"
    "\n"
    "It ends after --tokens, or when the model writes its begin or end token. With a bounded\n"
    "policy the cache is constant, and so are time and memory per token, however long it goes on.\n"
    "\n"
    "{options}\n"
    "\n"
    "Examples:\n"
    "  kvcheck generate --model pythia-70m --prompt 'Once upon a time' --temperature 0\n"
    "  kvcheck generate --model stories260K.bin --tokenizer tok512.bin --tokens 0 --top-p 0.9 \\\n"
    "      --policy 'streaming:sinks=4;positions=in-cache' --budget 256\n"
    "\n"
    "Exit status: 0 done, 2 usage or bad input, 130 interrupted.\n";

struct GeneratePlan {
  OpenedModel opened;
  Cell cell;
  DecoderOptions options;
  SampleOptions sample;
  std::size_t tokens = 0;
  std::vector<Token> prompt;
  std::string prompt_text;
  bool trace_cache = false;
};

Result<double> real(const Words& words, const std::string& name, double minimum, double maximum) {
  return parse_real(words.value(name), "--" + name, minimum, maximum);
}

// Synthetic streams were made by a command of this name before models could write.
Result<void> no_stream(std::span<const std::string> words) {
  constexpr std::array<std::string_view, 5> theirs = {"--list", "-l", "--planted", "--output",
                                                      "-o"};
  if (words.empty()) return {};
  const bool named = !words[0].empty() && words[0][0] != '-';
  const bool listed = std::ranges::any_of(words, [&](const std::string& word) {
    return std::ranges::find(theirs, split(word, '=')[0]) != theirs.end();
  });
  if (!named && !listed) return {};
  return usage_error(
      "generate writes text with --model PATH; a synthetic stream is made by "
      "'kvcheck trace generate " +
      (named ? words[0] : std::string("--list")) + "'");
}

Result<GeneratePlan> plan_generate(const Words& words) {
  if (const auto none = words.expect_operands("operand", 0, 0); !none) return none.error();
  GeneratePlan plan;
  Result<std::vector<Cell>> cells = model_cells(words, {});
  if (!cells) return cells.error();
  if (cells->size() != 1) return usage_error("several budgets are given; expected one");
  plan.cell = cells->front();
  const Result<DecoderOptions> options = decoder_options(words);
  if (!options) return options.error();
  plan.options = *options;
  plan.options.seed = plan.cell.seed;
  const auto temperature = real(words, "temperature", 0, 1000);
  if (!temperature) return temperature.error();
  const auto top_p = real(words, "top-p", 1e-9, 1);
  if (!top_p) return top_p.error();
  plan.sample = {*temperature, *top_p};
  const auto tokens = words.count("tokens", 0, 0xffffffff);
  if (!tokens) return tokens.error();
  plan.tokens = tokens->value();
  plan.trace_cache = words.given("trace-cache");
  Result<OpenedModel> opened = opened_model(words);
  if (!opened) return opened.error();
  plan.opened = *std::move(opened);
  plan.options.token_classes = token_classes_for(plan.opened, {&plan.cell, 1});
  Result<std::vector<Token>> prompt = plan.opened.tokenizer->encode(words.value("prompt"));
  if (!prompt) return Error{prompt.error().kind, "--prompt: " + prompt.error().message};
  if (const auto begin = plan.opened.model.config.begin_token)
    prompt->insert(prompt->begin(), *begin);
  if (prompt->empty()) {
    return usage_error("this model has no begin token; expected a --prompt that is not empty");
  }
  plan.prompt = *std::move(prompt);
  plan.prompt_text = words.value("prompt");
  return plan;
}

void trace_line(const CachedAttention& attention, Streams& streams) {
  const ModelUnit& unit = attention.units().front();
  streams.err << "token " << attention.seen() << ": " << unit.cache.residents() << " residents in "
              << unit.cache.stored() << " rows, each of " << attention.units().size() << " units; "
              << attention.bytes() << " bytes\n";
}

Result<void> go_on(const GeneratePlan& plan, Decoder& decoder, Streams& streams) {
  const ModelConfig& config = plan.opened.model.config;
  TokenSampler sampler(plan.sample, Rng(plan.cell.seed));
  Token last = plan.prompt.back();
  std::string text = plan.trace_cache ? plan.prompt_text : "";
  for (std::size_t written = 0; plan.tokens == 0 || written < plan.tokens; ++written) {
    if (interrupted()) break;
    const Token next = sampler.draw(decoder.logits(), decoder.seen());
    if (next == config.begin_token || next == config.end_token) break;
    // A model may have rows beyond its tokenizer's tokens; they stand for nothing.
    if (static_cast<std::size_t>(next) < plan.opened.tokenizer->vocabulary()) {
      const std::string piece = plan.opened.tokenizer->piece(last, next);
      // Lines about the cache would tear the text apart on a terminal.
      if (plan.trace_cache) {
        text += piece;
      } else {
        streams.out << piece << std::flush;
      }
    }
    if (!streams.out) break;
    if (auto fed = decoder.feed(std::array{next}, Logits::last); !fed) return fed;
    if (plan.trace_cache) trace_line(decoder.attention(), streams);
    last = next;
  }
  streams.out << text << "\n";
  return {};
}

Result<void> run(std::span<const std::string> given, Streams& streams) {
  if (auto text = no_stream(given); !text) return text;
  const Result<Words> words = Words::parse(table, given);
  if (!words) return words.error();
  const Result<GeneratePlan> plan = plan_generate(*words);
  if (!plan) return plan.error();
  Result<Decoder> decoder = Decoder::create(plan->opened.model, plan->cell.spec, plan->options);
  if (!decoder) return decoder.error();
  const InterruptGuard guard;
  const std::span<const Token> prompt = plan->prompt;
  for (std::size_t at = 0; at < prompt.size(); at += plan->cell.spec.chunk) {
    const std::size_t size = std::min<std::size_t>(plan->cell.spec.chunk, prompt.size() - at);
    if (auto fed = decoder->feed(prompt.subspan(at, size), Logits::last); !fed) return fed;
    if (interrupted()) return io_error("interrupted");
  }
  if (!plan->trace_cache) streams.out << words->value("prompt") << std::flush;
  return go_on(*plan, *decoder, streams);
}

}  // namespace

constinit const Command generate_command = {
    .name = "generate",
    .summary = "let a real model go on with a text, on what a policy leaves of it",
    .help = help,
    .run = done_unless_error<run>,
    .options = table,
};

}  // namespace kv::cli
