#include "kvcheck/cli/evaluate/eval_plan.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <utility>

#include "kvcheck/cli/evaluate/cell_groups.h"
#include "kvcheck/cli/evaluate/text_notes.h"
#include "kvcheck/cli/model/model_memory.h"
#include "kvcheck/cli/model/repeated_prompts.h"
#include "kvcheck/cli/options/memory.h"
#include "kvcheck/cli/replay/marks.h"
#include "kvcheck/cli/replay/replay_plan.h"
#include "kvcheck/cli/replay/spec_notes.h"
#include "kvcheck/cli/resume/resumable_run.h"
#include "kvcheck/model/run/text_streams.h"
#include "kvcheck/sim/spec/spec_names.h"

namespace kv::cli {
namespace {

constexpr std::uint64_t max_tokens = std::uint64_t{1} << 31;

// Threads and outputs are left out: they do not change what is measured.
std::string command_of(const Arguments& arguments) {
  std::string out = "kvcheck eval";
  for (const std::string_view name :
       {"model", "weights", "tokenizer", "text", "policy", "budget", "chunk", "tokens", "split",
        "windows", "segment", "seed", "storage", "keys", "prompt", "question"}) {
    if (!arguments.given(name)) continue;
    for (const std::string& value : arguments.values(name)) {
      out += " --" + std::string(name) + " " + shell_word(value);
    }
  }
  for (const std::string_view name : {"each", "mark", "open-loop", "ids", "no-begin"}) {
    if (arguments.given(name)) out += " --" + std::string(name);
  }
  return out;
}

Result<model::TextOptions> text_options(const Arguments& arguments, const OpenedModel& opened) {
  const auto tokens = arguments.count("tokens", 2, max_tokens);
  if (!tokens) return tokens.error();
  model::TextOptions options;
  options.separator = arguments.value("split");
  options.each = arguments.given("each");
  options.mark = arguments.given("mark");
  options.begin = begin_token(arguments, opened);
  options.tokens = tokens->value_or(0);
  if (options.separator.empty() && (options.each || options.mark)) {
    return usage_error("--each and --mark are about the pieces that --split makes; expected both");
  }
  return options;
}

Result<EvalText> text_in(const Arguments& arguments,
                         const std::string& text,
                         const model::TextOptions& options,
                         const model::Tokenizer& tokenizer) {
  auto streams = model::streams_of(text, tokenizer, options);
  if (!streams) {
    return Error{streams.error().kind, arguments.value("text") + ": " + streams.error().message};
  }
  EvalText result{.window = options.window, .streams = *std::move(streams), .questions = {}};
  for (const auto& stream : result.streams) {
    result.questions.push_back(model::recall_questions(stream, tokenizer));
  }
  return result;
}

Result<void> plan_texts(const Arguments& arguments, EvalPlan& plan) {
  const Result<std::string> text = text_of_file(arguments);
  if (!text) return text.error();
  plan.about.text = arguments.value("text");
  plan.about.checksum = XXH3_64bits(text->data(), text->size());
  Result<model::TextOptions> options = text_options(arguments, *plan.opened);
  if (!options) return options.error();
  auto windows = arguments.counts("windows", 0, max_tokens);
  if (!windows) return windows.error();
  if (windows->empty()) windows->push_back(0);
  for (const std::uint64_t window : *windows) {
    if (window == 1) return usage_error("--windows has 1; expected 0 (not cut) or 2 and more");
    options->window = window;
    auto made = text_in(arguments, *text, *options, *plan.opened->tokenizer);
    if (!made) return made.error();
    plan.texts.push_back(*std::move(made));
  }
  // Of several streams, what is too short to be one is left out, so their lengths say less.
  const auto& streams = plan.texts.front().streams;
  const std::size_t tokens = streams.size() == 1 ? streams.front().size() : ~std::size_t{0};
  plan.notes = text_notes(arguments, *text, tokens);
  return {};
}

Result<void> plan_model(const Arguments& arguments, EvalPlan& plan) {
  if (plan.opened == nullptr) {
    Result<OpenedModel> opened = opened_model(arguments);
    if (!opened) return opened.error();
    plan.opened = std::make_shared<const OpenedModel>(*std::move(opened));
  }
  add_words(*plan.opened, plan.cells, plan.options);
  const model::ModelConfig& config = plan.opened->model.config;
  plan.about.model = plan.opened->path;
  plan.about.architecture = architecture_text(arguments, config);
  plan.about.weight_bytes = plan.opened->model.weight_bytes();
  plan.about.context = config.context;
  plan.about.storage = storage_text(arguments, plan.options);
  return {};
}

// Tables show the first `segment` targets, the next `segment`, then the next twice as many, and so
// on. The width of a point of the series divides `segment` and is at most 16.
Result<void> plan_steps(const Arguments& arguments, EvalPlan& plan) {
  const auto segment = arguments.count("segment", 1, max_tokens);
  if (!segment) return segment.error();
  plan.about.segment = segment->value();
  plan.about.series_width = 1;
  while (plan.about.series_width < 16 && plan.about.segment % (2 * plan.about.series_width) == 0) {
    plan.about.series_width *= 2;
  }
  return {};
}

Result<void> check_lengths(const EvalPlan& plan) {
  for (const EvalText& text : plan.texts) {
    const std::size_t longest = longest_of(text);
    for (const Cell& cell : plan.cells) {
      if (cell.spec.sinks == 0 || cell.spec.sinks < longest) continue;
      return usage_error(cell.spec.label() + ": the text is " + std::to_string(longest) +
                         " tokens long; expected more than the " + std::to_string(cell.spec.sinks) +
                         " sinks");
    }
  }
  return {};
}

}  // namespace

std::size_t longest_of(const EvalText& text) {
  std::size_t longest = 0;
  for (const auto& stream : text.streams) longest = std::max(longest, stream.size());
  return longest;
}

// Every spec has to have its sizes on every stream before anything runs. All streams have the same
// marks, so the sizes are the same too.
Result<void> size_cells(EvalPlan& plan) {
  for (Cell& cell : plan.cells) {
    for (const EvalText& text : plan.texts) {
      for (std::size_t i = 0; i < text.streams.size(); ++i) {
        const std::string stream =
            text.streams.size() == 1 ? "the text" : "stream " + std::to_string(i + 1);
        auto sized = resolved(cell.spec, plan.options.marks, text.streams[i].size(), stream);
        if (!sized) return sized.error();
        cell.spec = *std::move(sized);
      }
    }
  }
  return {};
}

std::uint64_t checksum_of_tokens(const EvalPlan& plan, const EvalText& text) {
  std::uint64_t sum = 0;
  for (const auto& stream : text.streams) {
    sum = XXH3_64bits_withSeed(stream.data(), stream.size() * sizeof(model::TokenId), sum);
  }
  // Questions depend on the words of the tokens.
  for (const auto& questions : text.questions) {
    for (const model::RecallQuestion& question : questions) {
      const std::array<std::uint64_t, 2> numbers = {question.answer, question.distance};
      sum = XXH3_64bits_withSeed(numbers.data(), sizeof numbers, sum);
    }
  }
  const auto& request = plan.options.repeat_request;
  if (!request.empty()) {
    sum = XXH3_64bits_withSeed(request.data(), request.size() * sizeof(model::TokenId), sum);
  }
  if (plan.options.token_classes == nullptr) return sum;
  const std::vector<TokenClass>& classes = *plan.options.token_classes;
  return XXH3_64bits_withSeed(classes.data(), classes.size() * sizeof(TokenClass), sum);
}

std::uint64_t checksum_of_tokens(const EvalPlan& plan) {
  std::uint64_t sum = 0;
  for (const EvalText& text : plan.texts) {
    const std::uint64_t of_text = checksum_of_tokens(plan, text);
    sum = XXH3_64bits_withSeed(&of_text, sizeof of_text, sum);
  }
  return sum;
}

namespace {

// `longest`: tokens of the longest stream.
void add_notes(const Arguments& arguments, std::size_t longest, EvalPlan& plan) {
  for (std::string& note : storage_notes(arguments, plan.options.storage, plan.cells)) {
    plan.notes.push_back(std::move(note));
  }
  for (std::string& note : notes_on(plan.cells, longest)) {
    plan.notes.push_back(std::move(note));
  }
  for (std::string& note : repeat_notes(arguments, plan.cells, plan.options.repeat_request)) {
    plan.notes.push_back(std::move(note));
  }
  const auto absolute = [](const Cell& cell) { return !are_ranks(cell.spec.positions); };
  if (std::ranges::any_of(plan.cells, absolute)) {
    for (std::string& note : context_notes(longest, plan.opened->model.config.context)) {
      plan.notes.push_back(std::move(note));
    }
  }
}

}  // namespace

Result<EvalPlan> plan_eval(const Arguments& arguments, EvalGiven given) {
  if (const auto none = arguments.expect_operands("operand", 0, 0); !none) return none.error();
  EvalPlan plan;
  plan.opened = std::move(given.opened);
  plan.cells = std::move(given.cells);
  if (plan.cells.empty()) {
    Result<std::vector<Cell>> cells = model_cells(arguments, {"dense"});
    if (!cells) return cells.error();
    plan.cells = *std::move(cells);
  }
  const Result<model::DecoderOptions> options = decoder_options(arguments);
  if (!options) return options.error();
  plan.options = *options;
  const Result<Marks> marks = marks_of(arguments);
  if (!marks) return marks.error();
  plan.options.marks = plan.about.marks = *marks;
  const auto threads = threads_of(arguments);
  if (!threads) return threads.error();
  plan.threads = static_cast<unsigned>(*threads);
  plan.open_loop = arguments.given("open-loop");
  if (const auto fine = check_open_loop(plan.open_loop, plan.cells); !fine) return fine.error();
  plan.quiet = arguments.given("quiet");
  plan.resume = arguments.given("resume");
  if (const auto fine = check_resume(arguments); !fine) return fine.error();
  plan.command = command_of(arguments);
  for (const auto step : {plan_steps, plan_model, plan_texts}) {
    if (const auto done = step(arguments, plan); !done) return done.error();
  }
  Result<Outputs> outputs = outputs_of(arguments, arguments.value("text"));
  if (!outputs) return outputs.error();
  plan.outputs = *std::move(outputs);
  if (const auto sized = size_cells(plan); !sized) return sized.error();
  if (const auto fits = check_lengths(plan); !fits) return fits.error();
  std::size_t longest = 0;
  for (const EvalText& text : plan.texts) longest = std::max(longest, longest_of(text));
  add_notes(arguments, longest, plan);
  plan.large_weights = large_weights(plan.opened->model);
  std::size_t together = 1;
  for (const auto group : cell_groups(plan.cells, plan.large_weights)) {
    together = std::max(together, group.size());
  }
  const std::size_t running =
      std::min<std::size_t>(plan.threads * together, plan.cells.size() * plan.texts.size());
  const auto needs = decoder_needs(plan.opened->model, plan.cells, longest, running);
  if (auto fits = check_memory(arguments, needs); !fits) return fits.error();
  return plan;
}

}  // namespace kv::cli
