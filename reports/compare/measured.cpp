#include "kvcheck/reports/compare/measured.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/numbers/after_loss.h"
#include "kvcheck/reports/numbers/labels.h"
#include "kvcheck/reports/numbers/summary.h"

namespace kv::reports {
namespace {

constexpr std::array<Measure, 6> all = {{
    {.name = "retained_mass",
     .title = "retained mass once evicting",
     .more_is_better = true,
     .of_replays = true},
    {.name = "topk_overlap",
     .title = "top-k overlap once evicting",
     .more_is_better = true,
     .of_replays = true},
    {.name = "output_error", .title = "output error once evicting", .of_replays = true},
    {.name = "kl_to_dense", .title = "KL to dense once evicting, nats", .of_replays = true},
    {.name = "loss", .title = "loss per token, nats"},
    {.name = "recall", .title = "recall, share of right answers", .more_is_better = true},
}};

double replayed(const ReplayResult& trace, const CellResult& cell, std::string_view name) {
  const HeadMetrics means = AfterLoss(cell.cell.spec, trace.trace).of(means_of(cell));
  if (name == "retained_mass") return means.retained_mass;
  if (name == "topk_overlap") return means.topk_overlap;
  if (name == "output_error") return means.output_error;
  return kl_is_own_number(cell.cell.spec) ? means.kl_to_dense : not_measured;
}

double evaluated(const ClosedLoopCell& cell, std::string_view name) {
  if (name == "loss") return cell.targets() == 0 ? not_measured : std::log(cell.perplexity());
  const RecallBin bins = cell.recall_in_all();
  return bins.asked == 0 ? not_measured : bins.share();
}

// As stores_more() of a summary.
bool stores_more(const CellResult& cell) {
  const Spec& spec = cell.cell.spec;
  return !spec.bounded() || sizes_of(cell).stored_peak > spec.budget + 1U;
}

std::string last_part(const std::string& path) {
  return path.substr(path.find_last_of('/') + 1);
}

std::string key_of(const TraceInfo& trace) {
  return trace.name + ", checksum " + hexadecimal(trace.checksum) + marks_text(trace.marks);
}

std::string key_of(const ClosedLoopResult& text) {
  return last_part(text.model) + " on " + last_part(text.text) + ", checksum " +
         hexadecimal(text.checksum) + ", " + std::to_string(text.tokens) + " tokens in " +
         std::to_string(text.streams) + " streams, " + text.storage + marks_text(text.marks);
}

// The seeds of one spec on one text, each with its value.
using Seeds = std::map<std::uint64_t, double>;

class Collected {
 public:
  void add(const std::string& text, const Cell& cell, double value, bool stores_more) {
    if (!std::isfinite(value)) return;
    const std::size_t row = index_of(texts_, text, text);
    const std::size_t column = index_of(specs_, cell.spec.canonical(), cell.spec);
    stores_more_.resize(specs_.size());
    stores_more_[column] = stores_more_[column] || stores_more;
    seeds_[{row, column}][cell.seed] = value;
  }

  [[nodiscard]] MeasuredTexts means() const {
    MeasuredTexts out;
    for (const auto& [key, text] : texts_) out.texts.push_back(text);
    for (const auto& [canonical, spec] : specs_) {
      out.specs.push_back({spec, canonical, stores_more_[out.specs.size()],
                           std::vector<double>(texts_.size(), not_measured)});
    }
    for (const auto& [place, seeds] : seeds_) {
      double sum = 0;
      for (const auto& [seed, value] : seeds) sum += value;
      out.specs[place.second].values[place.first] = sum / static_cast<double>(seeds.size());
    }
    return out;
  }

 private:
  // Few enough for a search along the list.
  template <typename Value>
  static std::size_t index_of(std::vector<std::pair<std::string, Value>>& list,
                              const std::string& key,
                              const Value& value) {
    const auto at = std::ranges::find(list, key, &std::pair<std::string, Value>::first);
    const auto index = static_cast<std::size_t>(at - list.begin());
    if (index == list.size()) list.emplace_back(key, value);
    return index;
  }

  std::vector<std::pair<std::string, std::string>> texts_;
  std::vector<std::pair<std::string, Spec>> specs_;
  std::vector<bool> stores_more_;  // by spec
  std::map<std::pair<std::size_t, std::size_t>, Seeds> seeds_;
};

}  // namespace

std::span<const Measure> measures() {
  return all;
}

MeasuredTexts measured(std::span<const StoredRun> runs, const Measure& measure) {
  Collected collected;
  for (const StoredRun& run : runs) {
    for (const ReplayResult& trace : run.traces) {
      for (const CellResult& cell : trace.cells) {
        if (!measure.of_replays) break;
        collected.add(key_of(trace.trace), cell.cell, replayed(trace, cell, measure.name),
                      stores_more(cell));
      }
    }
    for (const ClosedLoopResult& text : run.evaluations) {
      for (const ClosedLoopCell& cell : text.cells) {
        if (measure.of_replays) break;
        collected.add(key_of(text), cell.cell, evaluated(cell, measure.name), false);
      }
    }
  }
  return collected.means();
}

}  // namespace kv::reports
