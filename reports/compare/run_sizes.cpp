#include "kvcheck/reports/compare/run_sizes.h"

#include <map>
#include <set>
#include <tuple>

namespace kv::reports {

std::vector<std::size_t> windows_of(std::span<const StoredRun> runs) {
  std::set<std::size_t> windows;
  for (const StoredRun& run : runs) {
    for (const ClosedLoopResult& text : run.evaluations) windows.insert(text.window);
  }
  return {windows.begin(), windows.end()};
}

std::vector<std::size_t> layers_of(std::span<const StoredRun> runs) {
  std::set<std::size_t> layers;
  for (const StoredRun& run : runs) {
    for (const ReplayResult& trace : run.traces) {
      for (const CellResult& cell : trace.cells) {
        if (cell.heads.empty()) return {};
        for (const HeadResult& head : cell.heads) layers.insert(head.layer);
      }
    }
  }
  return {layers.begin(), layers.end()};
}

std::vector<std::size_t> lengths_of(std::span<const StoredRun> runs) {
  std::set<std::size_t> lengths;
  for (const StoredRun& run : runs) {
    for (const TimingResult& result : run.timings) {
      for (const TimedCell& cell : result.cells) lengths.insert(cell.length);
    }
  }
  return {lengths.begin(), lengths.end()};
}

namespace {

// `eval` adds to the architecture how it stored the layers' weights, if not as the model's file.
template <typename Answers>
std::string setting_of(const Answers& one) {
  const std::size_t weights = one.architecture.rfind("layers' weights as ");
  return one.model + " with " + one.storage +
         (weights == std::string::npos ? "" : ", " + one.architecture.substr(weights));
}

}  // namespace

std::set<std::string> settings_in(std::span<const StoredRun> runs, MeasuredIn in) {
  std::set<std::string> settings;
  const auto add_models = [&](const auto& results) {
    for (const auto& one : results) settings.insert(setting_of(one));
  };
  for (const StoredRun& run : runs) {
    if (in == MeasuredIn::evaluations) add_models(run.evaluations);
    if (in == MeasuredIn::tasks) add_models(run.tasks);
    for (const ReplayResult& one : run.traces) {
      if (in == MeasuredIn::replays && !one.trace.model.empty()) settings.insert(one.trace.model);
    }
    for (const TimingResult& one : run.timings) {
      if (in != MeasuredIn::timings) break;
      settings.insert(one.model + " with " + one.storage + ", weights " + one.weights + ", " +
                      std::to_string(one.threads) + " threads, " + std::to_string(one.tokens) +
                      " tokens");
    }
  }
  return settings;
}

std::string prefixes_in(std::span<const StoredRun> runs, std::optional<std::size_t> window) {
  using Text = std::tuple<std::uint64_t, std::string, std::string, std::size_t, std::string>;
  std::map<Text, std::set<std::size_t>> lengths;
  for (const StoredRun& run : runs) {
    for (const ClosedLoopResult& text : run.evaluations) {
      if (window && text.window != *window) continue;
      lengths[{text.checksum, text.text, text.model, text.window, text.storage}].insert(
          text.tokens);
    }
  }
  for (const auto& [text, tokens] : lengths) {
    if (tokens.size() < 2) continue;
    const std::string name = std::get<1>(text);
    return name.substr(name.find_last_of('/') + 1) + " with " + std::to_string(*tokens.begin()) +
           " and with " + std::to_string(*tokens.rbegin()) + " tokens";
  }
  return {};
}

}  // namespace kv::reports
