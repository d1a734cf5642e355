#include "kvcheck/cli/report/compared_results.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/compare/compare_tables.h"
#include "kvcheck/reports/compare/complete_runs.h"
#include "kvcheck/reports/compare/named_spec.h"
#include "kvcheck/reports/compare/run_sizes.h"
#include "kvcheck/reports/store/results.h"

namespace kv::cli {
namespace {

using Runs = std::vector<reports::StoredRun>;

std::string list_of(const std::vector<std::size_t>& numbers) {
  std::string list;
  for (const std::size_t number : numbers) {
    list += (list.empty() ? "" : ", ") + std::to_string(number);
  }
  return list;
}

bool any_of_evaluations(std::span<const reports::Measure> measures) {
  return std::ranges::any_of(measures, [](const reports::Measure& measure) {
    return measure.in == reports::MeasuredIn::evaluations;
  });
}

// In each file, evaluations of one size of windows: a text in two sizes is not two texts.
Result<std::optional<std::size_t>> window_of(const Arguments& arguments,
                                             std::span<const Runs> files,
                                             std::span<const reports::Measure> measures) {
  const auto given = arguments.count("window", 0, std::numeric_limits<std::int32_t>::max());
  if (!given) return given.error();
  if (*given) return std::optional<std::size_t>(**given);
  for (std::size_t i = 0; any_of_evaluations(measures) && i < files.size(); ++i) {
    const std::vector<std::size_t> windows = reports::windows_of(files[i]);
    if (windows.size() < 2) continue;
    return usage_error(arguments.operands()[i] + " has evaluations of texts in windows of " +
                       list_of(windows) +
                       " tokens (0: not cut); a text in two sizes is not two texts; expected "
                       "--window with one of these" +
                       (files.size() == 1 ? ", or --run" : ""));
  }
  return std::optional<std::size_t>();
}

// A text that two models read, or one model with two storages, is not two texts.
Result<void> check_settings(const Arguments& arguments,
                            std::span<const Runs> files,
                            std::span<const reports::Measure> measures) {
  for (std::size_t i = 0; i < files.size(); ++i) {
    for (const reports::Measure& measure : measures) {
      const std::set<std::string> settings = reports::settings_in(files[i], measure.in);
      if (settings.size() < 2) continue;
      return usage_error(arguments.operands()[i] + " has results of " + *settings.begin() +
                         " and of " + *settings.rbegin() + ", which are not different " +
                         std::string(measure.units()) + "; expected " +
                         (files.size() == 1 ? "--run with results of one" : "files of one each"));
    }
  }
  return {};
}

// A text and its beginning are not two texts.
Result<void> check_lengths_of_texts(const Arguments& arguments,
                                    std::span<const Runs> files,
                                    std::span<const reports::Measure> measures,
                                    std::optional<std::size_t> window) {
  for (std::size_t i = 0; any_of_evaluations(measures) && i < files.size(); ++i) {
    const std::string found = reports::prefixes_in(files[i], window);
    if (found.empty()) continue;
    return usage_error(arguments.operands()[i] + " has evaluations of " + found +
                       ", which are not different texts; expected --run with one of them");
  }
  return {};
}

// Timings of one length: a run at two lengths is not two runs, also if there are two files.
Result<std::optional<std::size_t>> length_of(const Arguments& arguments,
                                             std::span<const Runs> files,
                                             std::span<const reports::Measure> measures) {
  const auto given = arguments.count("length", 1, std::numeric_limits<std::int32_t>::max());
  if (!given) return given.error();
  const bool timed = std::ranges::any_of(measures, [](const reports::Measure& measure) {
    return measure.in == reports::MeasuredIn::timings;
  });
  if (!timed) {
    if (!*given) return std::optional<std::size_t>();
    return usage_error(
        "--length selects timings; expected --measure with one of theirs, such as "
        "attention_s");
  }
  std::set<std::size_t> all;
  for (const Runs& runs : files) {
    const std::vector<std::size_t> lengths = reports::lengths_of(runs);
    all.insert(lengths.begin(), lengths.end());
  }
  if (*given && (all.empty() || all.contains(**given))) return std::optional<std::size_t>(**given);
  if (!*given && all.size() < 2) return std::optional<std::size_t>();
  const std::string list = list_of({all.begin(), all.end()});
  const std::string names = join(arguments.operands(), " and ");
  return usage_error(
      names + (files.size() == 1 ? " has" : " have") + " timings after prompts of " + list +
      " tokens" +
      (*given ? ", not of " + std::to_string(**given) : ", which are not different runs") +
      "; expected --length with one of these");
}

// A file without replays is refused later, as one without the measure.
Result<std::optional<std::size_t>> layer_of(const Arguments& arguments,
                                            std::span<const Runs> files,
                                            std::span<const reports::Measure> measures) {
  const auto given = arguments.count("layer", 0, std::numeric_limits<std::int32_t>::max());
  if (!given) return given.error();
  if (!*given) return std::optional<std::size_t>();
  for (const reports::Measure& measure : measures) {
    if (measure.in == reports::MeasuredIn::replays) continue;
    return usage_error("--layer selects heads of replays, and " + std::string(measure.name) +
                       " is a measure of a whole model; expected --measure with one of replays, "
                       "such as retained_mass");
  }
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto replays = [](const reports::StoredRun& run) { return !run.traces.empty(); };
    if (std::ranges::none_of(files[i], replays)) continue;
    const std::vector<std::size_t> layers = reports::layers_of(files[i]);
    const std::string& name = arguments.operands()[i];
    if (layers.empty()) {
      return usage_error(name +
                         " has replays of which only means over all heads are kept, so that "
                         "--layer has nothing to select; expected results of kvcheck replay, or "
                         "of a sweep with \"detail\": \"heads\"");
    }
    if (std::ranges::find(layers, **given) != layers.end()) continue;
    return usage_error(name + " has replays of the layers " + list_of(layers) + ", not of " +
                       std::to_string(**given) + "; expected --layer with one of these");
  }
  return std::optional<std::size_t>(**given);
}

// A file without answers is refused later, as one without the measure.
Result<std::optional<std::string>> group_of(const Arguments& arguments,
                                            std::span<const Runs> files,
                                            std::span<const reports::Measure> measures) {
  if (!arguments.given("group")) return std::optional<std::string>();
  for (const reports::Measure& measure : measures) {
    if (measure.in == reports::MeasuredIn::tasks) continue;
    return usage_error("--group selects items of tasks, and " + std::string(measure.name) +
                       " is not a measure of tasks; expected --measure with one that is, such as "
                       "exact");
  }
  const std::string group = arguments.value("group");
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::vector<std::string> groups = reports::groups_of_items(files[i]);
    if (groups.empty() || std::ranges::find(groups, group) != groups.end()) continue;
    return usage_error(
        arguments.operands()[i] + ": " +
        unknown_word("group", group, std::vector<std::string_view>(groups.begin(), groups.end())));
  }
  return std::optional<std::string>(group);
}

using Runs = std::vector<reports::StoredRun>;

Result<Runs> runs_of(const Arguments& arguments, const std::string& path) {
  const auto id = arguments.count("run", 1, std::numeric_limits<std::int64_t>::max());
  if (!id) return id.error();
  if (*id) {
    auto run = reports::read_run(path, static_cast<std::int64_t>(**id));
    if (!run) return run.error();
    Runs one;
    one.push_back(*std::move(run));
    return one;
  }
  auto runs = reports::complete_runs(path);
  if (!runs) return runs.error();
  if (!runs->empty()) return runs;
  return usage_error(path + " has no complete run; kvcheck report --list lists its runs");
}

}  // namespace

Result<std::vector<reports::Measure>> measures_of(const Arguments& arguments) {
  const auto known = reports::measures();
  const std::vector<std::string> words = arguments.values("measure");
  std::vector<reports::Measure> measures;
  if (words.empty()) {
    const bool layer = arguments.given("layer");
    const bool group = arguments.given("group");
    const auto selected = [&](const reports::Measure& measure) {
      if (layer && measure.in != reports::MeasuredIn::replays) return false;
      if (group && measure.in != reports::MeasuredIn::tasks) return false;
      return !measure.only_asked_for;
    };
    std::ranges::copy_if(known, std::back_inserter(measures), selected);
    return measures;
  }
  std::vector<std::string_view> names;
  for (const reports::Measure& measure : known) names.push_back(measure.name);
  for (const std::string& word : words) {
    const reports::Measure* const measure = reports::measure_named(word);
    if (measure == nullptr) return usage_error(unknown_word("measure", word, names));
    measures.push_back(*measure);
  }
  return measures;
}

Result<std::vector<std::string>> specs_meant(std::string_view option,
                                             const std::string& words,
                                             std::span<const Runs> files) {
  std::vector<Spec> specs;
  for (const Runs& runs : files) {
    const std::vector<Spec> own = reports::specs_in(runs);
    specs.insert(specs.end(), own.begin(), own.end());
  }
  const std::vector<bool> meant = reports::named_among(words, specs);
  std::vector<std::string> canonicals;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (meant[i]) canonicals.push_back(specs[i].canonical());
  }
  if (!canonicals.empty()) return canonicals;
  return usage_error(reports::not_named(
      option, words, files.size() == 1 ? "no run has" : "neither file has", specs));
}

Result<std::vector<std::string>> measured_among(const std::vector<std::string>& named,
                                                const reports::MeasuredTexts& all) {
  std::vector<std::string> measured;
  for (const reports::MeasuredSpec& spec : all.specs) {
    if (std::ranges::find(named, spec.canonical) != named.end()) measured.push_back(spec.canonical);
  }
  const std::vector<std::string> rivals = reports::rivals_among(measured, all);
  if (rivals.empty()) return measured.empty() ? named : measured;
  return usage_error("--against stands for several specs of one budget: " + join(rivals, " and ") +
                     "; expected one of them, since only the results say which is the best");
}

Result<reports::Selection> selection_of(const Arguments& arguments,
                                        std::span<const Runs> files,
                                        std::span<const reports::Measure> measures) {
  const auto window = window_of(arguments, files, measures);
  if (!window) return window.error();
  if (auto fine = check_lengths_of_texts(arguments, files, measures, *window); !fine) {
    return fine.error();
  }
  if (auto fine = check_settings(arguments, files, measures); !fine) return fine.error();
  const auto length = length_of(arguments, files, measures);
  if (!length) return length.error();
  const auto layer = layer_of(arguments, files, measures);
  if (!layer) return layer.error();
  auto group = group_of(arguments, files, measures);
  if (!group) return group.error();
  reports::Selection selection{
      .window = *window, .length = *length, .layer = *layer, .group = *std::move(group)};
  selection.items_by_text = std::ranges::all_of(
      files, [](const Runs& runs) { return reports::items_have_checksums(runs); });
  const std::vector<std::string> words = arguments.values("policies");
  if (words.empty()) return selection;
  std::set<std::string> accepted;
  for (const std::string& word : words) {
    const auto meant = specs_meant("--policies", word, files);
    if (!meant) return meant.error();
    accepted.insert(meant->begin(), meant->end());
  }
  selection.accepts = [accepted](const Spec& spec) { return accepted.contains(spec.canonical()); };
  return selection;
}

Result<std::vector<Runs>> files_of(const Arguments& arguments) {
  const std::span<const std::string> files = arguments.operands();
  for (const std::string name : {"run", "against", "means"}) {
    if (files.size() == 1 || !arguments.given(name)) continue;
    return usage_error("--" + name +
                       " is for one file; two files are compared spec by spec, all their runs");
  }
  std::vector<Runs> runs;
  for (const std::string& file : files) {
    auto read = runs_of(arguments, file);
    if (!read) return read.error();
    runs.push_back(*std::move(read));
  }
  return runs;
}

}  // namespace kv::cli
