#include "kvcheck/cli/tasks/task_plan.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "kvcheck/cli/model/model_memory.h"
#include "kvcheck/cli/model/repeated_prompts.h"
#include "kvcheck/cli/replay/replay_plan.h"
#include "kvcheck/cli/replay/spec_notes.h"
#include "kvcheck/cli/resume/resumable_run.h"
#include "kvcheck/reports/tables/task_tables.h"

namespace kv::cli {
namespace {

// What a text is cut into has no meaning for items.
constexpr std::array<std::string_view, 9> of_texts = {
    "text", "tokens", "split", "each", "mark", "windows", "prompt", "question", "open-loop"};

std::string command_of(const Arguments& arguments) {
  std::string out = "kvcheck eval";
  for (const std::string_view name : {"model", "weights", "tokenizer", "tasks", "answer-tokens",
                                      "policy", "budget", "chunk", "seed", "storage", "keys"}) {
    if (!arguments.given(name)) continue;
    for (const std::string& value : arguments.values(name)) {
      out += " --" + std::string(name) + " " + shell_word(value);
    }
  }
  for (const std::string_view name : {"no-begin", "beyond-context"}) {
    if (arguments.given(name)) out += " --" + std::string(name);
  }
  return out;
}

Result<void> check_words(const Arguments& arguments) {
  if (auto none = check_no_text(arguments, of_texts); !none) return none;
  if (arguments.given("ids")) {
    return usage_error("--ids has no words to compare; expected none beside --tasks");
  }
  return {};
}

Result<void> plan_model(const Arguments& arguments, TaskPlan& plan) {
  if (plan.opened == nullptr) {
    Result<OpenedModel> opened = opened_model(arguments);
    if (!opened) return opened.error();
    plan.opened = std::make_shared<const OpenedModel>(*std::move(opened));
  }
  add_words(*plan.opened, plan.cells, plan.options);
  plan.about.model = plan.opened->path;
  plan.about.architecture = architecture_text(arguments, plan.opened->model.config);
  plan.about.weight_bytes = plan.opened->model.weight_bytes();
  plan.about.context = plan.opened->model.config.context;
  plan.about.storage = storage_text(arguments, plan.options);
  return {};
}

Result<void> plan_items(const Arguments& arguments, TaskPlan& plan) {
  auto read =
      task_items_of(arguments, *plan.opened, ItemUse::answered, arguments.given("beyond-context"));
  if (!read) return read.error();
  plan.tasks = *std::move(read);
  plan.about.file = arguments.value("tasks");
  plan.about.checksum = plan.tasks.checksum;
  for (std::size_t i = 0; i < plan.tasks.items.size(); ++i) {
    const model::TaskItem& item = plan.tasks.items[i];
    const model::TaskStream& stream = plan.tasks.streams[i];
    plan.about.items.push_back({.id = item.id,
                                .group = item.group,
                                .context = stream.marks.prompt,
                                .question = stream.marks.question,
                                .answer = stream.answer.size(),
                                .choices = stream.choices.size(),
                                .checksum = model::checksum_of(item)});
  }
  return {};
}

// Every spec has to have its sizes on every item before anything runs.
Result<void> check_cells(const TaskPlan& plan) {
  for (const Cell& cell : plan.cells) {
    const model::Answering how = plan.answering(cell);
    for (std::size_t i = 0; i < plan.tasks.items.size(); ++i) {
      auto sized = model::spec_for(plan.tasks.items[i], plan.tasks.streams[i], how);
      if (!sized) return sized.error();
    }
  }
  return {};
}

Result<void> check_memory_of(const Arguments& arguments, const TaskPlan& plan) {
  std::size_t longest = 0;
  for (const model::TaskStream& stream : plan.tasks.streams) {
    longest = std::max(longest, model::tokens_of(stream, plan.answering(plan.cells.front())));
  }
  const std::size_t running =
      std::min<std::size_t>(plan.threads, plan.cells.size() * plan.tasks.items.size());
  return check_memory(arguments, decoder_needs(plan.opened->model, plan.cells, longest,
                                               running * model::decoders_of_answer));
}

Result<void> plan_numbers(const Arguments& arguments, TaskPlan& plan) {
  const auto answer = arguments.count("answer-tokens", 1, 1U << 20U);
  if (!answer) return answer.error();
  plan.longest_answer = answer->value_or(0);
  plan.score = arguments.value("score");
  if (const auto known = reports::check_score(plan.score); !known) return known.error();
  const auto threads = threads_of(arguments);
  if (!threads) return threads.error();
  plan.threads = static_cast<unsigned>(*threads);
  return {};
}

// A policy that compresses a prompt is one to ask items of; one that holds a budget throughout
// trims between the tokens of the question, too.
std::size_t longest_of(const TaskPlan& plan) {
  std::size_t longest = 0;
  for (const model::TaskStream& stream : plan.tasks.streams) {
    longest = std::max(longest, stream.prompt.size());
  }
  return longest;
}

// A note on answers that no trim after the question can change: their one token follows from the
// last token of the question, which sees the whole cache.
std::vector<std::string> short_answer_notes(const TaskPlan& plan) {
  const bool after_question = std::ranges::any_of(plan.cells, [](const Cell& cell) {
    return cell.spec.phases.compress == Phases::Compress::question;
  });
  const auto one_token = [](const model::TaskStream& one) { return one.longest == 1; };
  const auto count = std::ranges::count_if(plan.tasks.streams, one_token);
  if (!after_question || count == 0) return {};
  return {std::to_string(count) + " of " + std::to_string(plan.tasks.streams.size()) +
          " items have answers of one token, which compress=question cannot change: the last token "
          "of a question sees the whole prompt"};
}

}  // namespace

model::Answering TaskPlan::answering(const Cell& cell) const {
  model::Answering how{.model = opened->model,
                       .tokenizer = *opened->tokenizer,
                       .spec = cell.spec,
                       .options = options,
                       .longest_answer = longest_answer};
  how.options.seed = cell.seed;
  return how;
}

std::uint64_t checksum_of_tokens(const TaskPlan& plan) {
  std::uint64_t sum = 0;
  const auto add = [&](const std::vector<model::TokenId>& tokens) {
    sum = XXH3_64bits_withSeed(tokens.data(), tokens.size() * sizeof(model::TokenId), sum);
  };
  for (const model::TaskStream& stream : plan.tasks.streams) {
    add(stream.prompt);
    add(stream.answer);
    for (const auto& choice : stream.choices) add(choice);
    const std::string right(stream.right.begin(), stream.right.end());  // a byte for each choice
    sum = XXH3_64bits_withSeed(right.data(), right.size(), sum);
    const std::array<std::uint64_t, 3> numbers = {stream.marks.prompt, stream.marks.question,
                                                  stream.longest};
    sum = XXH3_64bits_withSeed(numbers.data(), sizeof numbers, sum);
  }
  if (!plan.options.repeat_request.empty()) add(plan.options.repeat_request);
  if (plan.options.token_classes == nullptr) return sum;
  const std::vector<TokenClass>& classes = *plan.options.token_classes;
  return XXH3_64bits_withSeed(classes.data(), classes.size() * sizeof(TokenClass), sum);
}

Result<TaskPlan> plan_tasks(const Arguments& arguments, TaskGiven given) {
  if (const auto none = arguments.expect_operands("operand", 0, 0); !none) return none.error();
  if (const auto fine = check_words(arguments); !fine) return fine.error();
  TaskPlan plan;
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
  plan.quiet = arguments.given("quiet");
  plan.resume = arguments.given("resume");
  if (const auto fine = check_resume(arguments); !fine) return fine.error();
  plan.command = command_of(arguments);
  for (const auto step : {plan_numbers, plan_model, plan_items}) {
    if (const auto done = step(arguments, plan); !done) return done.error();
  }
  Result<Outputs> outputs = outputs_of(arguments, arguments.value("tasks"));
  if (!outputs) return outputs.error();
  plan.outputs = *std::move(outputs);
  if (const auto fine = check_cells(plan); !fine) return fine.error();
  plan.notes = storage_notes(arguments, plan.options.storage, plan.cells);
  for (std::string& note : notes_on(plan.cells, longest_of(plan))) {
    plan.notes.push_back(std::move(note));
  }
  std::ranges::move(repeat_notes(arguments, plan.cells, plan.options.repeat_request),
                    std::back_inserter(plan.notes));
  std::ranges::move(length_notes(plan.tasks, *plan.opened), std::back_inserter(plan.notes));
  std::ranges::move(short_answer_notes(plan), std::back_inserter(plan.notes));
  if (auto fits = check_memory_of(arguments, plan); !fits) return fits.error();
  return plan;
}

}  // namespace kv::cli
