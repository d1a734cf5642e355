// Rows: the specs of a task's answers, as its figures list them. Private to reports/figures.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kvcheck/reports/numbers/lines.h"
#include "kvcheck/reports/plot/figure.h"
#include "kvcheck/reports/plot/figure_names.h"
#include "kvcheck/reports/tables/task_tables.h"
#include "kvcheck/sim/replay/closed_loop.h"

namespace kv::reports {

// The cells of one spec, whose seeds are averaged.
struct TaskRow {
  std::string name;
  std::string budget;  // " (64)" where the result has several; else empty
  Look look;
  std::vector<std::size_t> cells{};

  [[nodiscard]] std::string label() const { return name + budget; }

  // The label in at most so many characters, of which the budget remains.
  [[nodiscard]] std::string label_in(std::size_t width) const;
};

// Rows of one budget together, in the order of the run; first those that evict nothing.
std::vector<TaskRow> task_rows(const TaskResult& result, const Renaming& renaming);

// By item, the mean over the row's seeds. Requires the name of a score.
std::vector<double> values_of(const TaskResult& result, const TaskRow& row, std::string_view score);

// The end of a caption: what was asked, and what the labels mean.
std::string about_rows(const TaskResult& result, const std::vector<TaskRow>& rows);

// "Drawn: the first 3 of 9 specs. "; nothing if all are drawn.
std::string drawn_first(std::size_t drawn, std::size_t all, const std::string& noun);

// Words of an axis, and the room that they take.
struct FittedWords {
  std::vector<std::string> words;
  double width = 0;
};

// The words, or the labels of the rows, shortened to a width of `most` pixels, as far as to eight
// characters.
FittedWords fitted(const std::vector<std::string>& words, double most);
FittedWords fitted(const std::vector<TaskRow>& rows, double most);

// "set ytics ..." etc., with words at 0, 1, ... `how` are further options.
std::string word_tics(char axis, const std::vector<std::string>& words, const std::string& how);

}  // namespace kv::reports
