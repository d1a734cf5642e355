// Rows and groups: the specs and the items of a task's answers, as its figures list them. Private
// to reports/figures.
#pragma once

#include <algorithm>
#include <cstddef>
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
};

// Rows of one budget together, in the order of the run; first those that evict nothing, then tokens
// and then shares, the smallest first.
std::vector<TaskRow> task_rows(const TaskResult& result, const Renaming& renaming);

// By item, the mean over the row's seeds. Requires the name of a score.
std::vector<double> values_of(const TaskResult& result, const TaskRow& row, std::string_view score);

// The end of a caption: what was asked, and what the labels mean.
std::string about_rows(const TaskResult& result, const std::vector<TaskRow>& rows);

// "Drawn: the first 3 of 9 specs. "; nothing if all are drawn.
std::string drawn_first(std::size_t drawn, std::size_t all);

// The labels in at most so many characters, as far as those of the budgets leave some. What is left
// out is the middle of a name, and different labels remain different.
std::vector<std::string> labels_in(const std::vector<TaskRow>& rows, std::size_t width);

// A group by its name, in which the place of the requested fact may stand last.
struct TaskGroup {
  std::string name;
  std::string base;        // the name before " at "
  std::string place_word;  // empty: the name has no place
  double place = 0;
};

// How groups become columns and rows of maps.
struct GroupLayout {
  std::vector<TaskGroup> groups;
  bool placed = false;               // the x axis has the places of facts
  bool by_spec = false;              // a map for each spec; otherwise one whose rows are specs
  std::vector<std::string> bases;    // in the order of the groups
  std::vector<std::string> columns;  // words of the x axis

  [[nodiscard]] std::size_t column_of(const TaskGroup& group) const {
    const std::string& word = placed ? group.place_word : group.base;
    return static_cast<std::size_t>(std::ranges::find(columns, word) - columns.begin());
  }

  [[nodiscard]] std::size_t base_of(const TaskGroup& group) const {
    return static_cast<std::size_t>(std::ranges::find(bases, group.base) - bases.begin());
  }
};

// All groups of the result. The place of the fact is used if all of them name one.
GroupLayout layout_of_groups(const TaskResult& result);

// Words of an axis, and the room that they take.
struct FittedWords {
  std::vector<std::string> words;
  double width = 0;
};

// The words, or the labels of the rows, shortened to a width of `most` pixels, as far as to eight
// characters. Different words remain different.
FittedWords fitted(const std::vector<std::string>& words, double most);
FittedWords fitted(const std::vector<TaskRow>& rows, double most);

// "set ytics ..." etc., with words at 0, 1, ... `how` are further options.
std::string word_tics(char axis, const std::vector<std::string>& words, const std::string& how);

}  // namespace kv::reports
