#include "kvcheck/cli/sweep/plan/eval_work.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "kvcheck/base/text/text.h"
#include "kvcheck/cli/evaluate/eval_open_loop.h"
#include "kvcheck/cli/evaluate/eval_run.h"
#include "kvcheck/cli/model/model_memory.h"
#include "kvcheck/cli/replay/replay_memory.h"
#include "kvcheck/cli/sweep/plan/model_words.h"
#include "kvcheck/model/decoder/decoder.h"
#include "kvcheck/model/run/evaluate.h"

namespace kv::cli {
namespace {

// Bytes of rows, with the tree around them: from the sizes of files of two sweeps.
constexpr std::uint64_t of_evaluation = 250;
constexpr std::uint64_t of_cell = 60;
constexpr std::uint64_t of_point = 22;
constexpr std::uint64_t of_bins = 110;

}  // namespace

Result<std::unique_ptr<EvalWork>> EvalWork::create(const std::string& path,
                                                   const PlanText& text,
                                                   std::span<const Cell> cells,
                                                   std::vector<std::string>& notes) {
  auto work = std::make_unique<EvalWork>(text);
  auto opened = model_of(path, text);
  if (!opened) return opened.error();
  auto files = files_of_model(text);
  if (!files) return files.error();
  work->model_ = *std::move(files);
  const std::vector<Cell> specs = one_of_each_spec(cells);
  for (std::size_t i = 0; i < text.sources.size(); ++i) {
    const auto added = work->add(text.sources[i], specs, *opened, notes);
    if (!added) return at_field(path, text, place_in("texts", i), added.error());
  }
  for (PlannedSource& source : work->planned_) source.cells = all_indices(cells.size());
  if (const auto right = work->check_specs(specs); !right) {
    return at_field(path, text, "policies", right.error());
  }
  return work;
}

Result<void> EvalWork::add(const std::string& source,
                           std::span<const Cell> specs,
                           const std::shared_ptr<const OpenedModel>& opened,
                           std::vector<std::string>& notes) {
  const auto arguments = eval_arguments(text_, source);
  if (!arguments) return arguments.error();
  auto plan = plan_eval(*arguments, {.opened = opened, .cells = {specs.begin(), specs.end()}});
  if (!plan) return plan.error();
  for (const Text& other : texts_) {
    if (other.plan.about.checksum != plan->about.checksum) continue;
    return malformed("the words of '" + other.plan.about.text + "' are given twice");
  }
  add_new(plan->notes, notes);
  checksums_ +=
      " " + hexadecimal(plan->about.checksum) + " " + hexadecimal(checksum_of_tokens(*plan));
  if (text_.detail == Detail::summary) plan->about.series_width = plan->about.segment;
  plan->about.inputs.weights = model_.weights;
  Text& text = texts_.emplace_back();
  for (const EvalText& cut : plan->texts) {
    const std::string how = cut.window > 0 ? ", windows of " + std::to_string(cut.window) : "";
    planned_.push_back({.name = source + how, .cells = {}});
    const std::string sums =
        hexadecimal(plan->about.checksum) + " " + hexadecimal(checksum_of_tokens(*plan, cut));
    text.inputs.push_back(cell_inputs(text_, model_, cut.window, sums));
  }
  text.cuts = std::move(plan->texts);
  text.plan = *std::move(plan);
  text.plan.texts.clear();
  text.plan.cells.clear();
  return {};
}

Result<void> EvalWork::check_specs(std::span<const Cell> specs) const {
  const Text& text = texts_.front();
  model::DecoderOptions options = text.plan.options;
  options.length = longest_of(text.cuts.front());
  for (const Cell& cell : specs) {
    const auto decoder = model::Decoder::create(text.plan.opened->model, cell.spec, options);
    if (decoder) continue;
    return Error{decoder.error().kind, cell.spec.label() + ": " + decoder.error().message};
  }
  if (!text_.cuts.open_loop) return {};
  for (std::size_t source = 0; source < planned_.size(); ++source) {
    if (opens_loop(source)) return {};
  }
  return usage_error("\"open-loop\" replays dense runs, and every text is longer than the " +
                     std::to_string(text.plan.about.context) +
                     " tokens that the model was trained on; expected \"windows\" of as many or "
                     "fewer \"tokens\"");
}

bool EvalWork::opens_loop(std::size_t source) const {
  return text_.cuts.open_loop && longest_of(cut_of(source)) <= text_of(source).plan.about.context;
}

double EvalWork::cost(std::size_t source, std::span<const Cell> cells) const {
  const model::ModelConfig& config = text_of(source).plan.opened->model.config;
  double cost = 0;
  for (const auto& stream : cut_of(source).streams) {
    for (const Cell& cell : cells) cost += decoding_cost(config, cell.spec, stream.size());
  }
  if (!opens_loop(source)) return cost;
  // The dense run, and its replay: a cell costs about as much as attention to every token.
  for (const auto& stream : cut_of(source).streams) {
    const auto tokens = static_cast<double>(stream.size());
    const auto widths = static_cast<double>(config.layers * config.query_width());
    cost += decoding_cost(config, dense_spec(), stream.size()) +
            widths * tokens * tokens * static_cast<double>(1 + cells.size());
  }
  return cost;
}

Result<reports::SweepResult> EvalWork::run(std::size_t source,
                                           std::span<const Cell> cells,
                                           const WorkOptions& options) const {
  EvalPlan plan = text_of(source).plan;
  plan.texts = {cut_of(source)};
  plan.about.inputs.cell = inputs_of_cells(source);
  plan.cells.assign(cells.begin(), cells.end());
  plan.threads = options.threads;
  if (const auto sized = size_cells(plan); !sized) return sized.error();
  const bool opens = opens_loop(source);
  const double closed = opens ? 0.6 : 1;
  auto results = run_eval(
      plan,
      [&](double share, const std::string& /*spec*/) {
        return !options.progress || options.progress(share * closed);
      },
      options.parts);
  if (!results) return results.error();
  if (opens) {
    const auto continues = [&] { return !options.progress || options.progress(closed); };
    const auto added = add_open_loop(plan, *results, continues, options.parts);
    if (!added) return added.error();
  }
  return reports::SweepResult(std::move(results->front()));
}

std::vector<MemoryNeed> EvalWork::needs(std::size_t source,
                                        std::span<const Cell> cells,
                                        unsigned threads) const {
  const EvalPlan& plan = text_of(source).plan;
  const std::size_t longest = longest_of(cut_of(source));
  const std::size_t at_once = std::min<std::size_t>(threads, cells.size());
  auto needs = decoder_needs(plan.opened->model, cells, longest, at_once);
  if (!opens_loop(source)) return needs;
  const model::ModelConfig& config = plan.opened->model.config;
  TraceInfo trace;
  trace.tokens = longest;
  trace.query_heads = config.heads;
  trace.kv_heads = config.kv_heads;
  trace.head_dim = config.head_dim;
  trace.layers.resize(config.layers);
  ReplayOptions replay;
  replay.threads = threads;
  replay.series_points = 1;
  replay.residency_entries = 0;
  for (MemoryNeed& need : replay_needs(trace, cells, replay)) {
    needs.push_back({"the open loop: " + need.what, need.bytes});
  }
  return needs;
}

std::uint64_t EvalWork::bytes_of_source(std::size_t source) const {
  return of_evaluation + planned_[source].name.size();
}

std::uint64_t EvalWork::bytes_of_cell(std::size_t source, const Cell& cell) const {
  const EvalText& cut = cut_of(source);
  const std::size_t width = text_of(source).plan.about.series_width;
  const bool asks = std::ranges::any_of(cut.questions, [](const auto& of) { return !of.empty(); });
  return of_cell + bytes_of_spec(cell.spec) + of_point * (longest_of(cut) / width + 1) +
         (asks ? of_bins : 0);
}

Result<double> EvalWork::pace(std::size_t source, std::span<const Cell> /*cells*/) const {
  const EvalPlan& plan = text_of(source).plan;
  const auto& stream = cut_of(source).streams.front();
  constexpr std::size_t most = 192;
  const std::vector<std::vector<model::TokenId>> some = {
      {stream.begin(),
       stream.begin() + static_cast<std::ptrdiff_t>(std::min(most, stream.size()))}};
  model::DecoderOptions options = plan.options;
  options.marks = {};
  const auto begun = std::chrono::steady_clock::now();
  const auto done = model::evaluate(plan.opened->model, dense_spec(), some, options);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
  if (!done) return done.error();
  return took.count() / decoding_cost(plan.opened->model.config, dense_spec(), some[0].size());
}

}  // namespace kv::cli
