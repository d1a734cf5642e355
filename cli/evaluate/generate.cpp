#include "kvcheck/cli/evaluate/generate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <ostream>
#include <utility>

#include "kvcheck/base/text/text.h"
#include "kvcheck/cli/evaluate/text_notes.h"
#include "kvcheck/cli/model/model_options.h"
#include "kvcheck/cli/options/interrupt.h"
#include "kvcheck/model/run/evaluate.h"
#include "kvcheck/model/run/token_sampler.h"

namespace kv::cli {
namespace {

constexpr std::array<Option, 18> table = {{
    model_option,
    weights_option,
    tokenizer_option,
    {.name = "prompt", .value = "TEXT", .help = "the text to continue [empty]"},
    ids_option,
    no_begin_option,
    {.name = "policy",
     .value = "SPEC",
     .default_value = "dense",
     .help = "a policy with its fields, or a preset (@name)"},
    {.name = "budget",
     .value = "N",
     .help = "residents to keep after trimming, if the spec names no budget"},
    {.name = "chunk", .value = "N", .help = "tokens of the prompt per forward pass"},
    {.name = "tokens",
     .value = "N",
     .default_value = "256",
     .help = "how many tokens to write; 0 sets no limit"},
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
     .help =
         "print the residents to standard error after every token; the text follows at the end"},
    storage_option,
    keys_option,
    threads_option,
    {.name = "help", .letter = 'h', .help = "this text"},
}};

constexpr std::string_view help =
    "Continues a text with a real model under a policy, and prints it token by token.\n"
    "\n"
    "Usage:  kvcheck generate --model PATH [--prompt TEXT] [OPTIONS]\n"
    "\n"
    "The text ends after --tokens, or when the model writes its begin or end token. With a policy\n"
    "that has a budget, time and memory per token do not grow with the length of the text. A run\n"
    "that is interrupted cannot be resumed; the same seed writes the same text again.\n"
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
  model::DecoderOptions options;
  model::SampleOptions sample;
  std::size_t tokens = 0;
  std::vector<model::TokenId> prompt;
  std::string prompt_text;
  bool trace_cache = false;
};

Result<double> real(const Arguments& arguments,
                    const std::string& name,
                    double minimum,
                    double maximum) {
  return parse_real(arguments.value(name), "--" + name, minimum, maximum);
}

// Before models could write text, a command of this name made synthetic streams; its options are
// recognised here for a helpful error.
Result<void> no_stream(std::span<const std::string> arguments) {
  constexpr std::array<std::string_view, 5> theirs = {"--list", "-l", "--planted", "--output",
                                                      "-o"};
  if (arguments.empty()) return {};
  const bool named = !arguments[0].empty() && arguments[0][0] != '-';
  const bool listed = std::ranges::any_of(arguments, [&](const std::string& word) {
    return std::ranges::find(theirs, split(word, '=')[0]) != theirs.end();
  });
  if (!named && !listed) return {};
  return usage_error(
      "generate writes text with --model PATH; a synthetic stream is made by "
      "'kvcheck trace generate " +
      (named ? arguments[0] : std::string("--list")) + "'");
}

Result<GeneratePlan> plan_generate(const Arguments& arguments) {
  if (const auto none = arguments.expect_operands("operand", 0, 0); !none) return none.error();
  GeneratePlan plan;
  const Result<Cell> cell = model_cell(arguments);
  if (!cell) return cell.error();
  plan.cell = *cell;
  const Result<model::DecoderOptions> options = decoder_options(arguments);
  if (!options) return options.error();
  plan.options = *options;
  plan.options.seed = plan.cell.seed;
  const auto temperature = real(arguments, "temperature", 0, 1000);
  if (!temperature) return temperature.error();
  const auto top_p = real(arguments, "top-p", 1e-9, 1);
  if (!top_p) return top_p.error();
  plan.sample = {*temperature, *top_p};
  const auto tokens = arguments.count("tokens", 0, 0xffffffff);
  if (!tokens) return tokens.error();
  plan.tokens = tokens->value();
  plan.trace_cache = arguments.given("trace-cache");
  Result<OpenedModel> opened = opened_model(arguments);
  if (!opened) return opened.error();
  plan.opened = *std::move(opened);
  add_words(plan.opened, {&plan.cell, 1}, plan.options);
  Result<std::vector<model::TokenId>> prompt =
      plan.opened.tokenizer->encode(arguments.value("prompt"));
  if (!prompt) return Error{prompt.error().kind, "--prompt: " + prompt.error().message};
  if (const auto begin = begin_token(arguments, plan.opened)) {
    prompt->insert(prompt->begin(), *begin);
  }
  if (plan.tokens > 0) plan.options.length = prompt->size() + plan.tokens;
  if (prompt->empty()) {
    return usage_error("no begin token is put first; expected a --prompt that is not empty");
  }
  plan.prompt = *std::move(prompt);
  plan.prompt_text = arguments.value("prompt");
  return plan;
}

// Positions as runs: "0-3, 41, 57-60".
std::string runs_of(const Visible& residents) {
  std::vector<Run> runs;
  const auto add = [&](Position first, Position last) {
    if (first == last) return;
    if (!runs.empty() && runs.back().last == first) {
      runs.back().last = last;
    } else {
      runs.push_back({first, last});
    }
  };
  add(residents.sinks.first, residents.sinks.last);
  for (const Position position : residents.middle) add(position, position + 1);
  add(residents.recent.first, residents.recent.last);
  std::string text;
  for (const Run& run : runs) {
    text += (text.empty() ? "" : ", ") + std::to_string(run.first);
    if (run.size() > 1) text += "-" + std::to_string(run.last - 1);
  }
  return text;
}

std::string place_text(std::size_t layer, std::size_t head) {
  return "layer " + std::to_string(layer) + " head " + std::to_string(head);
}

// Prints the residents, once for all consecutive units that agree, with the shape of what they
// store.
void trace_cache(const model::CachedAttention& attention, std::size_t head_dim, Streams& streams) {
  streams.err << "after " << attention.seen() << " tokens, " << attention.bytes() << " bytes:\n";
  const auto& units = attention.units();
  for (std::size_t first = 0, last = 0; first < units.size(); first = last) {
    const std::string residents = runs_of(units[first].cache.all());
    std::size_t groups = units[first].groups.size();
    for (last = first + 1; last < units.size() && runs_of(units[last].cache.all()) == residents &&
                           units[last].cache.stored() == units[first].cache.stored();
         ++last) {
      groups += units[last].groups.size();
    }
    const model::ModelUnit& from = units[first];
    const model::KvHeadGroup& end = units[last - 1].groups.back();
    const std::string begins = place_text(from.layer, from.head);
    const std::string ends = place_text(end.layer, end.first_head + end.heads - 1);
    streams.err << "  " << begins << (begins == ends ? "" : " to " + ends) << ": keys and values ["
                << groups << ", " << from.cache.stored() << ", " << head_dim << "], residents "
                << residents << "\n";
  }
}

// Prints the text token by token. Lines about the cache would be mixed with it on a terminal, so
// with them the text is held back until the end.
class Writing {
 public:
  Writing(const GeneratePlan& plan, Streams& streams) : plan_(plan), streams_(streams) {
    write(plan.prompt_text);
    // The last number of the prompt would run together with the first that is generated.
    const std::string& prompt = plan.prompt_text;
    const bool ends_in_blank = prompt.find_last_of(" \t\r\n") + 1 == prompt.size();
    if (plan.opened.numbers && !ends_in_blank) write(" ");
  }

  void add(model::TokenId previous, model::TokenId token) {
    // A model may have more rows than its tokenizer has tokens; the other rows stand for no text.
    const model::Tokenizer& tokenizer = *plan_.opened.tokenizer;
    if (static_cast<std::size_t>(token) < tokenizer.vocabulary()) {
      write(tokenizer.piece(previous, token));
    }
  }

  void end() { streams_.out << held_ << "\n" << std::flush; }

 private:
  void write(const std::string& text) {
    if (plan_.trace_cache) {
      held_ += text;
    } else {
      streams_.out << text << std::flush;
    }
  }

  const GeneratePlan& plan_;
  Streams& streams_;
  std::string held_;
};

Result<void> go_on(const GeneratePlan& plan,
                   model::Decoder& decoder,
                   Writing& writing,
                   Streams& streams) {
  const model::ModelConfig& config = plan.opened.model.config;
  model::TokenSampler sampler(plan.sample, Rng(plan.cell.seed));
  model::TokenId last = plan.prompt.back();
  for (std::size_t written = 1; !interrupted() && streams.out; ++written) {
    const auto finite = [](float logit) { return std::isfinite(logit); };
    if (!std::ranges::all_of(decoder.logits(), finite))
      return model::not_finite(plan.opened.model, decoder.seen() - 1);
    const model::TokenId next = sampler.draw(decoder.logits(), decoder.seen());
    if (next == config.begin_token || std::ranges::count(config.end_tokens, next) > 0) break;
    writing.add(last, next);
    if (written == plan.tokens) break;  // nothing follows it
    if (auto fed = decoder.feed(std::array{next}, model::Logits::last); !fed) return fed;
    if (plan.trace_cache) trace_cache(decoder.attention(), config.head_dim, streams);
    last = next;
  }
  return {};
}

Result<void> run(std::span<const std::string> given, Streams& streams) {
  if (auto text = no_stream(given); !text) return text;
  const Result<Arguments> arguments = Arguments::parse(table, given);
  if (!arguments) return arguments.error();
  const Result<GeneratePlan> plan = plan_generate(*arguments);
  if (!plan) return plan.error();
  model::DecoderOptions options = plan->options;
  options.marks.prompt = plan->prompt.size();
  const auto team = team_of(*arguments);
  if (!team) return team.error();
  options.team = *team;
  Result<model::Decoder> decoder =
      model::Decoder::create(plan->opened.model, plan->cell.spec, options);
  if (!decoder) return decoder.error();
  const std::size_t length = plan->prompt.size() + plan->tokens;
  if (!are_ranks(plan->cell.spec.positions)) {
    for (const std::string& note : context_notes(length, plan->opened.model.config.context)) {
      streams.err << "Note: " << note << ".\n";
    }
  }
  const InterruptGuard guard;
  const std::span<const model::TokenId> prompt = plan->prompt;
  for (std::size_t at = 0; at < prompt.size(); at = decoder->seen()) {
    const std::size_t size = decoder->next_chunk(prompt.size() - at);
    if (auto fed = decoder->feed(prompt.subspan(at, size), model::Logits::last); !fed) return fed;
    if (interrupted()) return io_error("interrupted");
  }
  if (plan->trace_cache) {
    trace_cache(decoder->attention(), plan->opened.model.config.head_dim, streams);
  }
  Writing writing(*plan, streams);
  Result<void> done = go_on(*plan, *decoder, writing, streams);
  writing.end();
  return done;
}

}  // namespace

constinit const Command generate_command = {
    .name = "generate",
    .summary = "continue a text with a real model under a policy",
    .help = help,
    .run = done_unless_error<run>,
    .options = table,
};

}  // namespace kv::cli
