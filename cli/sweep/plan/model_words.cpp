#include "kvcheck/cli/sweep/plan/model_words.h"

#include <xxhash.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "kvcheck/cli/evaluate/eval.h"
#include "kvcheck/cli/resume/run_inputs.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv::cli {
namespace {

class Words {
 public:
  Words& text(std::string_view name, const std::string& value) {
    if (!value.empty()) words_.push_back("--" + std::string(name) + "=" + value);
    return *this;
  }

  // 0 stands for an option that is not given.
  Words& number(std::string_view name, std::uint64_t value) {
    return value == 0 ? *this : text(name, std::to_string(value));
  }

  Words& given(std::string_view name, bool value) {
    if (value) words_.push_back("--" + std::string(name));
    return *this;
  }

  [[nodiscard]] const std::vector<std::string>& all() const { return words_; }

 private:
  std::vector<std::string> words_;
};

std::string joined(const std::vector<std::uint32_t>& numbers) {
  std::string list;
  for (const std::uint32_t number : numbers) {
    list += (list.empty() ? "" : ",") + std::to_string(number);
  }
  return list;
}

}  // namespace

Result<Arguments> eval_arguments(const PlanText& plan, const std::string& source) {
  const PlannedModel& model = plan.model;
  Words words;
  words.text("model", model.path)
      .text("weights", model.weights)
      .text("tokenizer", model.tokenizer)
      .given("ids", model.ids)
      .given("no-begin", model.no_begin)
      .text("storage", model.storage)
      .text("keys", model.keys);
  if (plan.kind == reports::SweepKind::tasks) {
    words.text("tasks", source)
        .number("answer-tokens", plan.answer_tokens)
        .given("beyond-context", plan.beyond_context);
    return Arguments::parse(eval_command.options, words.all());
  }
  const PlannedCuts& cuts = plan.cuts;
  words.text("text", source)
      .number("tokens", cuts.tokens)
      .text("split", cuts.split)
      .given("each", cuts.each)
      .given("mark", cuts.mark)
      .text("windows", joined(cuts.windows))
      .number("segment", cuts.segment)
      .given("open-loop", cuts.open_loop);
  if (plan.marks.known()) {
    words.text("prompt", std::to_string(plan.marks.prompt))
        .text("question", std::to_string(plan.marks.question));
  }
  return Arguments::parse(eval_command.options, words.all());
}

Result<std::shared_ptr<const OpenedModel>> model_of(const std::string& path, const PlanText& plan) {
  const auto arguments = eval_arguments(plan, plan.sources.front());
  if (!arguments) return at_field(path, plan, "", arguments.error());
  const auto options = decoder_options(*arguments);
  if (!options) return at_field(path, plan, "", options.error());
  auto opened = opened_model(*arguments);
  if (!opened) return at_field(path, plan, "model", opened.error());
  return std::make_shared<const OpenedModel>(*std::move(opened));
}

Result<ModelFiles> files_of_model(const PlanText& plan) {
  const auto items = items_of_path("model", plan.model.path);
  if (!items) return items.error();
  ModelFiles files{.weights = checksum_of_items(*items, "model")};
  for (const std::string& item : *items) files.items += " " + item;
  return files;
}

std::uint64_t cell_inputs(const PlanText& plan,
                          const ModelFiles& model,
                          std::size_t window,
                          std::string_view sums) {
  PlanText same = plan;
  same.sources.clear();
  same.policies.clear();
  same.budgets.clear();
  same.seeds.clear();
  same.chunk = 0;  // specs have theirs
  same.cuts.windows = {static_cast<std::uint32_t>(window)};
  const std::string all = plan_json(same) + model.items + " " + std::string(sums);
  return std::max<std::uint64_t>(1, XXH3_64bits(all.data(), all.size()));
}

const Spec& dense_spec() {
  static const Spec spec = parse_spec("dense").value();
  return spec;
}

void add_new(const std::vector<std::string>& notes, std::vector<std::string>& all) {
  for (const std::string& note : notes) {
    if (std::ranges::find(all, note) == all.end()) all.push_back(note);
  }
}

std::vector<std::size_t> all_indices(std::size_t count) {
  std::vector<std::size_t> indices(count);
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  return indices;
}

std::vector<Cell> one_of_each_spec(std::span<const Cell> cells) {
  std::vector<Cell> specs;
  std::set<std::string> known;
  for (const Cell& cell : cells) {
    if (known.insert(cell.spec.canonical()).second) specs.push_back(cell);
  }
  return specs;
}

double decoding_cost(const model::ModelConfig& config, const Spec& spec, std::size_t tokens) {
  const auto real = [](std::size_t number) { return static_cast<double>(number); };
  const double matrices =
      real(config.width) * (real(2 * config.query_width()) + real(2 * config.kv_width()) +
                            (config.gated ? 3 : 2) * real(config.inner));
  const double weights =
      real(config.layers) * matrices + real(config.width) * real(config.vocabulary);
  const bool holds = spec.bounded() && spec.phases.compress == Phases::Compress::always;
  const double seen = holds ? std::min(real(spec.budget), real(tokens)) : real(tokens) / 2;
  // Where residents are evaluated again, a token may cost as much as all that it sees.
  const double passes = spec.vectors == Vectors::kept ? 1 : seen;
  const double attention = 2 * real(config.layers) * real(config.query_width()) * seen;
  return real(tokens) * passes * (weights + attention);
}

std::uint64_t bytes_of_spec(const Spec& spec) {
  return spec.canonical().size() + spec.label().size() + spec.policy->name.size();
}

}  // namespace kv::cli
