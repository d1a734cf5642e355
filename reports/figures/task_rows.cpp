#include "kvcheck/reports/figures/task_rows.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>
#include <utility>

#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/numbers/escape.h"
#include "kvcheck/reports/numbers/labels.h"
#include "kvcheck/reports/plot/legend.h"

namespace kv::reports {
namespace {

// `word_in` gives a word in at most so many characters.
FittedWords fitted_by(std::size_t count,
                      double most,
                      const std::function<std::string(std::size_t, std::size_t)>& word_in) {
  constexpr std::size_t longest = 60;
  constexpr std::size_t shortest_word = 8;
  FittedWords fitted;
  for (std::size_t width = longest; width >= shortest_word; width -= 2) {
    fitted = {};
    for (std::size_t i = 0; i < count; ++i) {
      fitted.words.push_back(word_in(i, width));
      fitted.width = std::max(fitted.width, legend_text_width(fitted.words.back()));
    }
    if (fitted.width <= most) break;
  }
  return fitted;
}

}  // namespace

std::vector<TaskRow> task_rows(const TaskResult& result, const Renaming& renaming) {
  std::vector<Spec> specs;
  std::vector<std::string> budgets;
  std::vector<std::string> order = {""};
  for (const TaskCell& cell : result.cells) {
    const Spec& spec = cell.cell.spec;
    specs.push_back(spec);
    budgets.push_back(spec.bounded() ? spec.budget_text() : "");
    if (std::ranges::find(order, budgets.back()) == order.end()) order.push_back(budgets.back());
  }
  std::vector<Line> lines = lines_of(specs, labels_of(specs));
  rename(lines, renaming, [&](std::size_t i) -> const Spec& { return specs[i]; });
  std::vector<TaskRow> rows;
  for (const std::string& budget : order) {
    for (const Line& line : lines) {
      TaskRow row{.name = line.label, .budget = {}, .look = line.look};
      std::ranges::copy_if(line.specs, std::back_inserter(row.cells),
                           [&](std::size_t i) { return budgets[i] == budget; });
      if (row.cells.empty()) continue;
      if (order.size() > 2 && !budget.empty()) {
        row.budget = " (" + budget.substr(0, budget.find(' ')) + ")";
      }
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

std::string TaskRow::label_in(std::size_t width) const {
  return shortened(name, width > budget.size() ? width - budget.size() : 1) + budget;
}

std::vector<double> values_of(const TaskResult& result,
                              const TaskRow& row,
                              std::string_view score) {
  std::vector<double> values(result.items.size());
  for (const std::size_t cell : row.cells) {
    const std::vector<double> own = score_values(result, result.cells[cell], score);
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] += own[i] / static_cast<double>(row.cells.size());
    }
  }
  return values;
}

std::string about_rows(const TaskResult& result, const std::vector<TaskRow>& rows) {
  std::set<std::string> budgets;
  bool seeds = false;
  for (const TaskRow& row : rows) {
    const Spec& spec = result.cells[row.cells.front()].cell.spec;
    if (spec.bounded()) budgets.insert(spec.budget_text());
    seeds = seeds || row.cells.size() > 1;
  }
  std::string words;
  if (budgets.size() == 1) words += " Budget: " + *budgets.begin() + ".";
  if (budgets.size() > 1) words += " In parentheses: the budget, in tokens or as a share.";
  if (seeds) words += " Seeds are averaged.";
  return words + " Closed loop: " + task_line(result) + ".";
}

std::string drawn_first(std::size_t drawn, std::size_t all, const std::string& noun) {
  if (drawn == all) return "";
  return "Drawn: the first " + std::to_string(drawn) + " of " + std::to_string(all) + " " + noun +
         ". ";
}

FittedWords fitted(const std::vector<std::string>& words, double most) {
  return fitted_by(words.size(), most,
                   [&](std::size_t i, std::size_t width) { return shortened(words[i], width); });
}

FittedWords fitted(const std::vector<TaskRow>& rows, double most) {
  return fitted_by(rows.size(), most,
                   [&](std::size_t i, std::size_t width) { return rows[i].label_in(width); });
}

std::string word_tics(char axis, const std::vector<std::string>& words, const std::string& how) {
  std::vector<std::string> tics;
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string word;  // in which a percent sign begins no format
    for (const char c : words[i]) word += c == '%' ? "%%" : std::string(1, c);
    tics.push_back(gnuplot_quoted(word) + " " + std::to_string(i));
  }
  return "set " + std::string(1, axis) + "tics scale 0 " + how + " noenhanced (" + join(tics, ",") +
         ")\n";
}

}  // namespace kv::reports
