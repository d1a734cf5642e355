// The quantities that comparisons are of.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "kvcheck/reports/numbers/statistics.h"
#include "kvcheck/reports/tables/tables.h"

namespace kv::reports {

// Where a measure is found, and so what counts as one text: a trace, an evaluation, an item of a
// task, or a repetition of a timing.
enum class MeasuredIn { replays, evaluations, tasks, timings };

// A quantity with one value for each spec and text.
struct Measure {
  std::string_view name;   // as in --measure, JSON and CSV
  std::string_view title;  // for readers, with its unit
  bool more_is_better = false;
  MeasuredIn in = MeasuredIn::replays;
  // Not in comparisons of all measures: no margin fits it and the others. Timings vary from run to
  // run, and have a section of their own in a report.
  bool only_asked_for = false;
  bool share_of_answers = false;  // each item has from 0 to 1
  bool once_evicting = false;     // from a spec's first loss on: what loses nothing has no value

  // What one value is of, in the plural.
  [[nodiscard]] std::string_view units() const;

  // "1 text", "12 runs".
  [[nodiscard]] std::string counted(std::size_t count) const;
};

// retained_mass, optimum_share, topk_overlap, output_error and kl_to_dense of replays, over the
// queries after the first loss, and moved_rows, which trims moved; loss_after of evaluations, over
// the targets after it, loss_over_dense, that less the loss of dense over the same targets,
// open_loop_mass, over the queries after it, loss over all, and recall, also of facts up to and
// more than 64 tokens ago; exact, contains, f1, choice and answer_loss of task
// files, of which each item is a text; first_token_s, token_s, attention_s, kv_bytes and peak_bytes
// of timings, of which each repetition is one.
std::span<const Measure> measures();

// The one with that name; null if there is none.
const Measure* measure_named(std::string_view name);

// The mean of a measure's values with its 95 % interval over texts: Wilson's of scores of answers
// from 0 to 1 (share_interval), as kvcheck eval shows it, of others the bootstrap's
// (bootstrap_interval), which fewer than six values do not have. NaN counts for nothing. Without
// any value the result is NaN.
Interval mean_interval(const Measure& measure, std::span<const double> values);

// A value of the measure: in tables with four decimals, or, of timings, four significant digits.
Entry entry_of(const Measure& measure, double value);

}  // namespace kv::reports
