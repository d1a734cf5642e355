#include "kvcheck/reports/compare/measured.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "kvcheck/reports/compare/measured_values.h"
#include "kvcheck/reports/compare/named_text.h"
#include "kvcheck/reports/numbers/labels.h"
#include "kvcheck/reports/numbers/summary.h"
#include "kvcheck/reports/numbers/timed_medians.h"
#include "kvcheck/reports/tables/task_tables.h"

namespace kv::reports {
namespace {

// The seeds of one spec on one text, each with its value.
using Seeds = std::map<std::uint64_t, double>;

double mean_of(const Seeds& seeds) {
  double sum = 0;
  for (const auto& [seed, value] : seeds) sum += value;
  return sum / static_cast<double>(seeds.size());
}

// NaN of a single seed.
double deviation_of(const Seeds& seeds) {
  const double mean = mean_of(seeds);
  double squares = 0;
  for (const auto& [seed, value] : seeds) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / (static_cast<double>(seeds.size()) - 1));
}

class Collected {
 public:
  explicit Collected(const Selection& selection) : selection_(selection) {}

  // `first` is the first query of a mean over queries.
  void add(const NamedText& text,
           const Cell& cell,
           double value,
           std::optional<FirstTarget> first = {}) {
    if (!std::isfinite(value) || (selection_.accepts && !selection_.accepts(cell.spec))) return;
    const std::size_t row = index_of(texts_, text.key, text);
    const std::size_t column = index_of(specs_, canonical_of(cell.spec), cell.spec);
    seeds_[{row, column}][cell.seed] = value;
    if (first) first_[{row, column}] = *first;
  }

  // That the cell of a text that was added stored more than its budget.
  void note_more(const NamedText& text, const CellResult& cell) {
    const auto row = texts_.index.find(text.key);
    const auto column = specs_.index.find(canonical_of(cell.cell.spec));
    if (row == texts_.index.end() || column == specs_.index.end()) return;
    bool& more = more_[{row->second, column->second}];
    more = more || stored_more(cell);
  }

  // What a replay shows of a spec holds of its evaluations, too.
  void note_sizes(const CellResult& cell) {
    bool& more = stored_more_[canonical_of(cell.cell.spec)];
    more = more || stored_more(cell);
  }

  // The name of the model of an evaluation or of answers, which it takes note of.
  template <typename ModelResult>
  std::string model_of(const ModelResult& result) {
    std::string name = last_part(result.model);
    const std::uint64_t weights = result.inputs.weights;
    if (weights == 0) return name;
    const auto& known = selection_.models;
    if (std::ranges::find(known, name, &MeasuredModel::name) == known.end()) {
      const auto same = std::ranges::find(known, weights, &MeasuredModel::weights);
      if (same != known.end()) name = same->name;
    }
    models_.insert({name, weights, result.weight_bytes});
    return name;
  }

  [[nodiscard]] MeasuredTexts means() const {
    MeasuredTexts out;
    for (const NamedText& text : texts_.values) {
      out.texts.push_back(text.key);
      out.names.push_back(text.name);
    }
    out.layer = selection_.layer;
    out.group = selection_.group;
    out.models = models_;
    for (const Spec& spec : specs_.values) {
      const std::string canonical = spec.canonical();
      const auto replayed = stored_more_.find(canonical);
      const bool more = replayed == stored_more_.end() ? stores_more(spec) : replayed->second;
      out.specs.push_back({spec, canonical, more,
                           std::vector<double>(texts_.values.size(), not_measured),
                           std::vector<std::vector<SeedValue>>(texts_.values.size())});
    }
    for (const auto& [place, first] : first_) {
      out.specs[place.second].first_queries.resize(texts_.values.size());
      out.specs[place.second].first_queries[place.first] = first;
    }
    for (const auto& [place, more] : more_) {
      out.specs[place.second].stored_more.resize(texts_.values.size());
      out.specs[place.second].stored_more[place.first] = more;
    }
    for (const auto& [place, seeds] : seeds_) {
      MeasuredSpec& spec = out.specs[place.second];
      spec.values[place.first] = selection_.spread ? deviation_of(seeds) : mean_of(seeds);
      for (const auto& [seed, value] : seeds) spec.seeds[place.first].push_back({seed, value});
    }
    return out;
  }

 private:
  // Seeds of a spec come one after another, and it takes longer to write than to compare.
  const std::string& canonical_of(const Spec& spec) {
    if (last_ && last_->first == spec) return last_->second;
    last_ = {spec, spec.canonical()};
    return last_->second;
  }

  // Values in the order in which they first came.
  template <typename Value>
  struct Listed {
    std::vector<Value> values;
    std::map<std::string, std::size_t> index;
  };

  template <typename Value>
  static std::size_t index_of(Listed<Value>& list, const std::string& key, const Value& value) {
    const auto [at, added] = list.index.emplace(key, list.values.size());
    if (added) list.values.push_back(value);
    return at->second;
  }

  const Selection& selection_;
  Listed<NamedText> texts_;
  Listed<Spec> specs_;
  std::optional<std::pair<Spec, std::string>> last_;
  std::map<std::string, bool> stored_more_;  // by the canonical text, of specs that were replayed
  std::map<std::pair<std::size_t, std::size_t>, Seeds> seeds_;
  std::map<std::pair<std::size_t, std::size_t>, FirstTarget> first_;
  std::map<std::pair<std::size_t, std::size_t>, bool> more_;
  std::set<MeasuredModel> models_;
};

void add_replays(Collected& collected,
                 const StoredRun& run,
                 std::string_view measure,
                 const std::optional<std::size_t>& layer) {
  for (const ReplayResult& trace : run.traces) {
    NamedText text = named(trace.trace);
    // An overlap of other keys is another number.
    if (measure == "topk_overlap") text.key += ", top " + std::to_string(trace.top_k);
    const Spec* of = nullptr;
    AfterLoss after;
    for (const CellResult& cell : trace.cells) {
      if (of == nullptr || *of != cell.cell.spec) after = AfterLoss(cell.cell.spec, trace.trace);
      of = &cell.cell.spec;
      const double value = replayed(after, layer ? of_layer(cell, *layer) : cell, measure);
      const bool over_queries = measure != "moved_rows";
      collected.add(text, cell.cell, value,
                    over_queries ? std::optional(FirstTarget{after.first()}) : std::nullopt);
      collected.note_more(text, cell);
    }
  }
}

void add_evaluations(Collected& collected,
                     const StoredRun& run,
                     std::string_view measure,
                     const std::optional<std::size_t>& window) {
  for (const ClosedLoopResult& text : run.evaluations) {
    if (window && text.window != *window) continue;
    const NamedText name = named(text, collected.model_of(text));
    for (const ClosedLoopCell& cell : text.cells) {
      std::optional<FirstTarget> first;
      if (measure != "loss" && !measure.starts_with("recall")) first = first_target(text, cell);
      collected.add(name, cell.cell, evaluated(text, cell, measure), first);
    }
  }
}

void add_tasks(Collected& collected,
               const StoredRun& run,
               std::string_view measure,
               const Selection& selection) {
  for (const TaskResult& result : run.tasks) {
    const std::string model = collected.model_of(result);
    for (const TaskCell& cell : result.cells) {
      const std::vector<double> values = score_values(result, cell, measure);
      for (std::size_t i = 0; i < values.size(); ++i) {
        const AskedItem& item = result.items[i];
        if (selection.group && item.group != *selection.group) continue;
        const NamedText name = named(result, item, model, selection.items_by_text);
        collected.add(name, cell.cell, values[i]);
      }
    }
  }
}

void add_timings(Collected& collected,
                 const StoredRun& run,
                 std::string_view measure,
                 const std::optional<std::size_t>& length) {
  for (const TimingResult& result : run.timings) {
    for (const TimedCell& cell : result.cells) {
      if (length && cell.length != *length) continue;
      collected.add(named(result, cell), cell.cell, timed(cell, measure));
    }
  }
}

}  // namespace

MeasuredTexts measured(std::span<const StoredRun> runs,
                       const Measure& measure,
                       const Selection& selection) {
  Collected collected(selection);
  for (const StoredRun& run : runs) {
    for (const ReplayResult& trace : run.traces) {
      for (const CellResult& cell : trace.cells) collected.note_sizes(cell);
    }
    if (selection.layer && measure.in != MeasuredIn::replays) continue;
    if (selection.group && measure.in != MeasuredIn::tasks) continue;
    switch (measure.in) {
      case MeasuredIn::replays:
        add_replays(collected, run, measure.name, selection.layer);
        break;
      case MeasuredIn::evaluations:
        add_evaluations(collected, run, measure.name, selection.window);
        break;
      case MeasuredIn::tasks:
        add_tasks(collected, run, measure.name, selection);
        break;
      case MeasuredIn::timings:
        add_timings(collected, run, measure.name, selection.length);
        break;
    }
  }
  return collected.means();
}

}  // namespace kv::reports
