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
