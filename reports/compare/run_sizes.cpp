#include "kvcheck/reports/compare/run_sizes.h"

#include <cstdint>
#include <map>
#include <set>
#include <tuple>

#include "kvcheck/base/text/text.h"

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

// The checksums of the weights that lay at each path, of those that are known.
using WeightsByPath = std::map<std::string, std::set<std::uint64_t>>;

template <typename Answers>
void add_weights(const std::vector<Answers>& results, WeightsByPath& weights) {
  for (const Answers& one : results) {
    if (one.inputs.weights != 0) weights[one.model].insert(one.inputs.weights);
  }
}

}  // namespace

std::set<std::string> settings_in(std::span<const StoredRun> runs, MeasuredIn in) {
  std::set<std::string> settings;
  WeightsByPath weights;
  for (const StoredRun& run : runs) {
    add_weights(run.evaluations, weights);
    add_weights(run.tasks, weights);
  }
  const auto add_models = [&](const auto& results) {
    for (const auto& one : results) {
      const bool several = weights[one.model].size() > 1 && one.inputs.weights != 0;
      settings.insert(setting_of(one) +
                      (several ? ", checksum " + hexadecimal(one.inputs.weights) : ""));
    }
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

std::vector<std::string> groups_of_items(std::span<const StoredRun> runs) {
  std::set<std::string> groups;
  for (const StoredRun& run : runs) {
    for (const TaskResult& tasks : run.tasks) {
      for (const AskedItem& item : tasks.items) groups.insert(item.group);
    }
  }
  return {groups.begin(), groups.end()};
}

bool items_have_checksums(std::span<const StoredRun> runs) {
  for (const StoredRun& run : runs) {
    for (const TaskResult& tasks : run.tasks) {
      for (const AskedItem& item : tasks.items) {
        if (item.checksum == 0) return false;
      }
    }
  }
  return true;
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
