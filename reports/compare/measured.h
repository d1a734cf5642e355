// What runs measured, as one number for each spec and text: the values that paired tests compare.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kvcheck/reports/store/results.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv::reports {

// Where a measure is found, and so what counts as one text.
enum class MeasuredIn { replays, evaluations, tasks };

// A quantity with one value for each spec and text.
struct Measure {
  std::string_view name;   // as in --measure, JSON and CSV
  std::string_view title;  // for readers, with its unit
  bool more_is_better = false;
  MeasuredIn in = MeasuredIn::replays;
  bool only_asked_for = false;  // not in tables of all measures

  // What one value is of, in the plural.
  [[nodiscard]] std::string_view units() const {
    return in == MeasuredIn::tasks ? "items" : "texts";
  }
};

// retained_mass, optimum_share, topk_overlap, output_error and kl_to_dense of replays, over the
// queries after the first loss, and moved_rows, which trims moved; loss and recall of evaluations, the latter also of facts up to and
// more than 64 tokens ago; exact, contains, f1, choice and answer_loss of task files, of which each
// item is a text.
std::span<const Measure> measures();

// One spec on every text.
struct MeasuredSpec {
  Spec spec;
  std::string canonical;
  bool stores_more = false;      // than its budget, in any replay of the runs; see stores_more()
  std::vector<double> values{};  // by text, the mean over seeds and heads; NaN: not measured
};

// A measure over the texts of some runs.
struct MeasuredTexts {
  // What identifies each text, also in another file: of a trace its name and checksum; of an
  // evaluation the model's and the text's names without folders, the text's checksum, and how it
  // was cut and stored; of an item its id, and the same of its file.
  std::vector<std::string> texts{};
  std::vector<MeasuredSpec> specs{};  // in the order in which runs have them first
};

// Which results count.
struct Selection {
  std::optional<std::size_t> window{};              // of evaluations: cut into windows of this size
  std::function<bool(const Spec& spec)> accepts{};  // empty: every spec
  // Values are standard deviations over seeds (n - 1) instead of means; NaN of a single seed.
  bool spread = false;
};

// A text that several of the runs measured with one spec and seed counts once, as the last measured
// it. Specs and texts without any value are left out.
MeasuredTexts measured(std::span<const StoredRun> runs,
                       const Measure& measure,
                       const Selection& selection = {});

// The sizes of windows of the evaluations, increasing; 0 stands for texts that are not cut. A text
// in windows of two sizes is not two texts.
std::vector<std::size_t> windows_of(std::span<const StoredRun> runs);

}  // namespace kv::reports
