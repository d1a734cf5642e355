// Answers to the items of a task file as tables for readers, and as CSV and JSON lines.
//
// The same result gives the same bytes. The fields are described in reports/SCHEMA.md.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/reports/numbers/statistics.h"
#include "kvcheck/reports/tables/tables.h"
#include "kvcheck/sim/replay/closed_loop.h"

namespace kv::reports {

// A number for each answer.
struct Score {
  std::string_view name;   // as in --score, JSON and CSV
  std::string_view title;  // for readers
  bool more_is_better = true;
  bool is_share = true;  // each answer has from 0 to 1
};

// exact, contains, f1, choice (whether the right choice was the likeliest) and answer_loss.
std::span<const Score> scores();

// Requires the name of a score.
const Score& score_named(std::string_view name);

// Errors: no such score, with the nearest name.
Result<void> check_score(const std::string& name);

// The score of each item's answer; NaN for choices of an item that has none.
std::vector<double> score_values(const TaskResult& result,
                                 const TaskCell& cell,
                                 std::string_view score);

// The mean of the values that are numbers with its 95 % interval over items: Wilson's score
// interval of shares, BCa of other scores. Without any value the result is NaN.
Interval score_mean(std::span<const double> values, const Score& score);

// The groups in the order of their first items.
std::vector<std::string> groups_of(const TaskResult& result);

// "(no group)" for items without one.
std::string group_words(const std::string& group);

// The values of one group's items, or of all for a null group. Requires a value for each item.
std::vector<double> values_in(const TaskResult& result,
                              const std::vector<double>& values,
                              const std::string* group);

// A row per cell: the mean of each score over all items, with intervals. A score that no item has
// is left out.
Table scores_table(const TaskResult& result);

// A row per cell: the mean of one score in each group, with intervals. No rows if there is only one
// group. Requires the name of a score.
Table groups_table(const TaskResult& result, std::string_view score);

// Whether a report shows the score by group: exact and answer_loss say most.
bool shows_groups(const Score& score);

// "MODEL on FILE: 200 items in 4 groups, contexts of 180 to 240 tokens"
std::string items_line(const TaskResult& result);

// The same, and of what tables show: the line above them.
std::string task_line(const TaskResult& result);

// CSV: one row per cell and item.
std::string task_csv(const TaskResult& result);

// JSON lines: one object per cell and item.
std::string task_json(const TaskResult& result);

}  // namespace kv::reports
