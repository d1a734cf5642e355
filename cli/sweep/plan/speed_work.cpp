#include "kvcheck/cli/sweep/plan/speed_work.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "kvcheck/base/threads/team.h"
#include "kvcheck/cli/evaluate/speed.h"
#include "kvcheck/cli/evaluate/speed_run.h"
#include "kvcheck/cli/model/model_memory.h"
#include "kvcheck/cli/sweep/plan/model_words.h"

namespace kv::cli {
namespace {

// Bytes of rows, with the tree around them: from the sizes of files of two sweeps.
constexpr std::uint64_t of_timing = 200;
constexpr std::uint64_t of_cell = 180;

Error labelled(const Error& error, const Cell& cell) {
  return {error.kind, cell.spec.label() + ": " + error.message};
}

// The arguments of `kvcheck speed` that the model needs.
Result<Arguments> speed_arguments(const PlanText& plan) {
  const std::vector<std::string> words = {
      "--model=" + plan.model.path, "--weights=" + plan.model.weights,
      "--storage=" + plan.model.storage, "--keys=" + plan.model.keys};
  return Arguments::parse(speed_command.options, words);
}

}  // namespace

Result<std::unique_ptr<SpeedWork>> SpeedWork::create(const std::string& path,
                                                     const PlanText& text,
                                                     std::span<const Cell> cells) {
  const auto arguments = speed_arguments(text);
  if (!arguments) return at_field(path, text, "", arguments.error());
  const auto options = decoder_options(*arguments);
  if (!options) return at_field(path, text, "", options.error());
  auto model = opened_weights(*arguments);
  if (!model) return at_field(path, text, "model", model.error());
  auto files = files_of_model(text);
  if (!files) return files.error();
  auto work = std::make_unique<SpeedWork>();
  work->times_ = text.times;
  work->options_ = *options;
  work->options_.team = std::make_shared<Team>(text.times.threads);
  work->model_ = *std::move(model);
  work->inputs_ = std::move(files->items);
  work->cells_ = cells.size();
  work->about_ = {.model = text.model.path,
                  .weights = text.model.weights,
                  .weight_bytes = work->model_.weight_bytes(),
                  .storage = storage_text(*arguments, *options),
                  .tokens = text.times.tokens,
                  .threads = text.times.threads};
  const std::size_t longest = std::ranges::max(text.times.lengths);
  for (const Cell& cell : one_of_each_spec(cells)) {
    const auto fine = check_timed(work->model_, cell, work->options_, longest, text.times.tokens);
    if (fine) continue;
    return at_field(path, text, "policies",
                    {fine.error().kind, cell.spec.label() + ": " + fine.error().message});
  }
  for (std::size_t run = 1; run <= text.times.runs; ++run) {
    for (const std::uint32_t length : text.times.lengths) {
      work->planned_.push_back(
          {.name = "run " + std::to_string(run) + ", " + std::to_string(length) + " tokens",
           .cells = all_indices(cells.size())});
    }
  }
  return work;
}

std::size_t SpeedWork::length_of(std::size_t source) const {
  return times_.lengths[source % times_.lengths.size()];
}

std::size_t SpeedWork::repetition_of(std::size_t source) const {
  return source / times_.lengths.size() + 1;
}

double SpeedWork::cost(std::size_t source, std::span<const Cell> cells) const {
  double cost = 0;
  for (const Cell& cell : cells) {
    cost += decoding_cost(model_.config, cell.spec, length_of(source) + times_.tokens);
  }
  return cost;
}

Result<reports::SweepResult> SpeedWork::run(std::size_t source,
                                            std::span<const Cell> cells,
                                            const WorkOptions& options) const {
  TimingResult result = about_;
  result.cells.resize(cells.size());
  const std::size_t repetition = repetition_of(source);
  if (!cells.empty()) {
    const Cell& first = repetition % 2 == 1 ? cells.front() : cells.back();
    const auto warm = warm_up(model_, first, options_, length_of(source), times_.tokens);
    if (!warm) return labelled(warm.error(), first);
  }
  for (std::size_t done = 0; done < cells.size(); ++done) {
    // As `kvcheck speed` does, from the last cell to the first in every second run.
    const std::size_t i = repetition % 2 == 1 ? done : cells.size() - 1 - done;
    const double share = static_cast<double>(done) / static_cast<double>(cells.size());
    if (options.progress && !options.progress(share)) {
      return Error{Error::Kind::busy, "stopped before all cells were timed"};
    }
    auto timed = time_decoder(model_, cells[i], options_, length_of(source), times_.tokens);
    if (!timed) return labelled(timed.error(), cells[i]);
    timed->repetition = repetition;
    result.cells[i] = *std::move(timed);
  }
  if (options.progress) static_cast<void>(options.progress(1));
  return reports::SweepResult(std::move(result));
}

std::vector<MemoryNeed> SpeedWork::needs(std::size_t source,
                                         std::span<const Cell> cells,
                                         unsigned /*threads*/) const {
  return decoder_needs(model_, cells, length_of(source) + times_.tokens, 1);
}

std::uint64_t SpeedWork::bytes_of_source(std::size_t source) const {
  return source == 0 ? of_timing : 0;
}

std::uint64_t SpeedWork::bytes_of_cell(std::size_t /*source*/, const Cell& cell) const {
  return of_cell + bytes_of_spec(cell.spec);
}

Result<double> SpeedWork::pace(std::size_t source, std::span<const Cell> /*cells*/) const {
  const Cell cell{.spec = dense_spec(), .seed = 1};
  const std::size_t length = std::min<std::size_t>(length_of(source), 64);
  const auto begun = std::chrono::steady_clock::now();
  const auto done = time_decoder(model_, cell, options_, length, 1);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
  if (!done) return done.error();
  return took.count() / decoding_cost(model_.config, cell.spec, length + 1);
}

}  // namespace kv::cli
