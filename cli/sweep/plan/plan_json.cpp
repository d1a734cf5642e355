#include <array>

#include "kvcheck/base/text/json_text.h"
#include "kvcheck/cli/sweep/plan/plan_text.h"

namespace kv::cli {
namespace {

using reports::SweepKind;

constexpr std::array<std::string_view, 4> fields_of_sources = {"traces", "texts", "files",
                                                               "lengths"};

std::string_view word_of(Detail detail) {
  return std::array<std::string_view, 3>{"summary", "heads",
                                         "series"}[static_cast<std::size_t>(detail)];
}

void add_cells(const PlanText& plan, JsonObject& section) {
  const auto number = [](std::uint64_t value) { return std::to_string(value); };
  section.add_raw("policies", json_list(plan.policies, json_string));
  if (!plan.budgets.empty()) section.add_raw("budgets", json_list(plan.budgets, number));
  section.add_raw("seeds", json_list(plan.seeds, number));
  if (plan.chunk > 0) section.add("chunk", std::uint64_t{plan.chunk});
  if (!plan.marks.known()) return;
  section.add("prompt", std::uint64_t{plan.marks.prompt})
      .add("question", std::uint64_t{plan.marks.question});
}

void add_replay(const PlanText& plan, JsonObject& section) {
  if (plan.kv_heads > 0) section.add("kv-heads", std::uint64_t{plan.kv_heads});
  section.add("top-k", std::uint64_t{plan.top_k})
      .add("oracle", plan.oracle)
      .add("oracle-tokens", std::uint64_t{plan.oracle_tokens})
      .add("strict", plan.strict);
}

// A section "speed" has no text, and so nothing of tokenizers.
void add_model(const PlanText& plan, JsonObject& section) {
  const PlannedModel& model = plan.model;
  section.add("model", std::string_view(model.path))
      .add("weights", std::string_view(model.weights));
  if (!model.tokenizer.empty()) section.add("tokenizer", std::string_view(model.tokenizer));
  if (model.ids) section.add("ids", true);
  if (plan.kind != SweepKind::speed) section.add("no-begin", model.no_begin);
  section.add("storage", std::string_view(model.storage)).add("keys", std::string_view(model.keys));
}

void add_cuts(const PlannedCuts& cuts, JsonObject& section) {
  const auto number = [](std::uint64_t value) { return std::to_string(value); };
  if (cuts.tokens > 0) section.add("tokens", std::uint64_t{cuts.tokens});
  section.add("split", std::string_view(cuts.split))
      .add("each", cuts.each)
      .add("mark", cuts.mark)
      .add_raw("windows", json_list(cuts.windows, number))
      .add("segment", std::uint64_t{cuts.segment})
      .add("open-loop", cuts.open_loop);
}

void add_times(const PlannedTimes& times, JsonObject& section) {
  section.add("tokens", std::uint64_t{times.tokens})
      .add("runs", std::uint64_t{times.runs})
      .add("threads", std::uint64_t{times.threads});
}

// The message with the fields of a plan in place of the options that they stand for.
std::string in_words_of_plans(std::string message) {
  struct Words {
    std::string_view option;
    std::string_view field;
  };

  constexpr std::array<Words, 20> all = {
      {{"--policy", "policies"},   {"--budget", "budgets"},
       {"--seed", "seeds"},        {"--prompt", "prompt"},
       {"--question", "question"}, {"--chunk", "chunk"},
       {"--kv-heads", "kv-heads"}, {"--top-k", "top-k"},
       {"--weights", "weights"},   {"--storage", "storage"},
       {"--keys", "keys"},         {"--tokenizer", "tokenizer"},
       {"--ids", "ids"},           {"--no-begin", "no-begin"},
       {"--tokens", "tokens"},     {"--split", "split"},
       {"--each", "each"},         {"--mark", "mark"},
       {"--windows", "windows"},   {"--beyond-context", "beyond-context"}}};
  for (const auto& [option, field] : all) {
    for (auto at = message.find(option); at != std::string::npos;
         at = message.find(option, at + 1)) {
      const std::size_t end = at + option.size();
      const bool begins = at == 0 || message[at - 1] == ' ';
      const bool ends = end == message.size() || message.find_first_of(" ,;:", end) == end;
      if (begins && ends) message.replace(at, option.size(), '"' + std::string(field) + '"');
    }
  }
  return message;
}

}  // namespace

std::string_view PlanText::sources_field() const {
  return fields_of_sources[static_cast<std::size_t>(kind)];
}

Error at_field(const std::string& path,
               const PlanText& plan,
               const std::string& field,
               Error error) {
  error.message = "'" + path + "': plan." + std::string(reports::name_of(plan.kind)) +
                  (field.empty() ? "" : ".") + field + ": " + in_words_of_plans(error.message);
  return error;
}

std::string place_in(std::string_view list, std::size_t index) {
  return std::string(list) + "[" + std::to_string(index) + "]";
}

std::string plan_json(const PlanText& plan) {
  JsonObject section;
  const bool timed = plan.kind == SweepKind::speed;
  section.add_raw(plan.sources_field(),
                  timed ? json_list(plan.times.lengths,
                                    [](std::uint64_t length) { return std::to_string(length); })
                        : json_list(plan.sources, json_string));
  add_cells(plan, section);
  if (plan.kind == SweepKind::replay) add_replay(plan, section);
  if (plan.kind != SweepKind::replay) add_model(plan, section);
  if (plan.kind == SweepKind::eval) add_cuts(plan.cuts, section);
  if (timed) add_times(plan.times, section);
  if (plan.answer_tokens > 0) section.add("answer-tokens", std::uint64_t{plan.answer_tokens});
  if (plan.beyond_context) section.add("beyond-context", true);
  return JsonObject()
      .add_raw(reports::name_of(plan.kind), section.text())
      .add("detail", word_of(plan.detail))
      .text();
}

}  // namespace kv::cli
