#include "kvcheck/reports/numbers/timed_medians.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "kvcheck/base/text/printable.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv::reports {
namespace {

using Repetitions = std::vector<const TimedCell*>;

constexpr std::array times = {&TimedCell::first_token_s, &TimedCell::token_s,
                              &TimedCell::mean_token_s, &TimedCell::attention_s};
constexpr std::array sizes = {&TimedCell::kv_bytes, &TimedCell::peak_bytes};

// Puts the median, the least and the most of one number into its place.
template <typename Number>
void summarise(const Repetitions& all, Number TimedCell::*member, TimedSummary& summary) {
  std::vector<Number> values;
  for (const TimedCell* cell : all) values.push_back(cell->*member);
  std::ranges::sort(values);
  const Number low = values[(values.size() - 1) / 2];
  const Number high = values[values.size() / 2];
  summary.median.*member = low + (high - low) / 2;
  summary.least.*member = values.front();
  summary.most.*member = values.back();
}

TimedSummary summary_of(const Repetitions& all) {
  TimedCell first = *all.front();
  first.repetition = 1;
  TimedSummary summary{.median = first, .least = first, .most = first, .runs = all.size()};
  for (const auto member : times) summarise(all, member, summary);
  for (const auto member : sizes) summarise(all, member, summary);
  // Of a mean that is not known of all there is no median.
  if (summary.least.mean_token_s == 0) {
    summary.median.mean_token_s = 0;
    summary.most.mean_token_s = 0;
  }
  return summary;
}

}  // namespace

std::vector<TimedSummary> timed_summaries(const TimingResult& result) {
  std::map<std::pair<std::string, std::uint64_t>, std::size_t> specs;
  std::map<std::size_t, std::size_t> lengths;
  std::map<std::pair<std::size_t, std::size_t>, Repetitions> groups;
  for (const TimedCell& cell : result.cells) {
    const auto spec =
        specs.emplace(std::pair(cell.cell.spec.canonical(), cell.cell.seed), specs.size()).first;
    const auto length = lengths.emplace(cell.length, lengths.size()).first;
    groups[{spec->second, length->second}].push_back(&cell);
  }
  std::vector<TimedSummary> summaries;
  for (const auto& [place, all] : groups) summaries.push_back(summary_of(all));
  return summaries;
}

TimingResult medians_of(const TimingResult& result) {
  TimingResult medians = result;
  medians.cells.clear();
  for (const TimedSummary& summary : timed_summaries(result)) {
    medians.cells.push_back(summary.median);
  }
  return medians;
}

std::string machine_text(const TimedCell& cell) {
  if (cell.kernels.empty() && cell.processor.empty()) return "";
  const std::string kernels = cell.kernels.empty() ? "unknown" : printable_line(cell.kernels);
  return kernels + " kernels on " +
         (cell.processor.empty() ? "an unknown processor" : printable_line(cell.processor));
}

std::string machines_text(const TimingResult& result) {
  std::vector<std::string> machines;
  for (const TimedCell& cell : result.cells) {
    const std::string machine = machine_text(cell);
    if (machine.empty() || std::ranges::find(machines, machine) != machines.end()) continue;
    machines.push_back(machine);
  }
  return join(machines, "; ");
}

std::size_t timed_runs(const TimingResult& result) {
  std::size_t runs = 0;
  for (const TimedSummary& summary : timed_summaries(result)) runs = std::max(runs, summary.runs);
  return runs;
}

}  // namespace kv::reports
