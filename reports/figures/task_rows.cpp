#include "kvcheck/reports/figures/task_rows.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/numbers/escape.h"
#include "kvcheck/reports/numbers/labels.h"
#include "kvcheck/reports/plot/legend.h"

namespace kv::reports {
namespace {

// `text` in at most `width` characters without its middle: names often differ at the end.
std::string without_middle(const std::string& text, std::size_t width) {
  if (display_width(text) <= width || width < 4) return shortened(text, width);
  // Bytes of UTF-8 that continue a character are no places to cut.
  const auto is_begin = [&](std::size_t at) { return (text[at] & 0xC0) != 0x80; };
  const auto place_of = [&](std::size_t character) {
    std::size_t at = 0;
    for (std::size_t seen = 0; at < text.size(); ++at) {
      if (is_begin(at) && seen++ == character) break;
    }
    return at;
  };
  const std::size_t end = width / 2;
  const std::size_t begin = width - 1 - end;
  return text.substr(0, place_of(begin)) + "\xe2\x80\xa6" +
         text.substr(place_of(display_width(text) - end));
}

// Words in at most so many characters, each with its own ending.
std::vector<std::string> cut(const std::vector<std::string>& words,
                             const std::vector<std::string>& endings,
                             std::size_t width) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::size_t room = std::max(width, endings[i].size() + 4) - endings[i].size();
    std::string word = without_middle(words[i], room) + endings[i];
    for (std::size_t k = 0; k < i; ++k) {
      if (out[k] != word || words[k] + endings[k] == words[i] + endings[i]) continue;
      word = without_middle(words[i], room) + "#" + std::to_string(i + 1) + endings[i];
      break;
    }
    out.push_back(std::move(word));
  }
  return out;
}

FittedWords fitted_with(const std::vector<std::string>& words,
                        const std::vector<std::string>& endings,
                        double most) {
  constexpr std::size_t longest = 60;
  constexpr std::size_t least = 8;
  FittedWords fitted;
  for (std::size_t width = longest; width >= least; width -= 2) {
    fitted = {.words = cut(words, endings, width)};
    for (const std::string& word : fitted.words) {
      fitted.width = std::max(fitted.width, legend_text_width(word));
    }
    if (fitted.width <= most) break;
  }
  return fitted;
}

struct Labels {
  std::vector<std::string> names{};
  std::vector<std::string> budgets{};
};

Labels labels_of(const std::vector<TaskRow>& rows) {
  Labels labels;
  for (const TaskRow& row : rows) {
    labels.names.push_back(row.name);
    labels.budgets.push_back(row.budget);
  }
  return labels;
}

// Tokens before shares, the smallest first.
std::pair<bool, double> order_of(const std::string& budget) {
  return {budget.find(' ') != std::string::npos, budget.empty() ? -1 : std::stod(budget)};
}

TaskGroup group_named(const std::string& name) {
  TaskGroup group{.name = name, .base = group_words(name), .place_word = {}};
  constexpr std::string_view before = " at ";
  const std::size_t at = name.rfind(before);
  if (at == std::string::npos) return group;
  const std::string word = name.substr(at + before.size());
  const Result<double> place = parse_real(word, "a place", 0, 1);
  if (!place) return group;
  group.base = group_words(name.substr(0, at));
  group.place_word = shortest(*place);
  group.place = *place;
  return group;
}

void add_once(std::vector<std::string>& list, const std::string& word) {
  if (std::ranges::find(list, word) == list.end()) list.push_back(word);
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
  std::ranges::stable_sort(order, {}, order_of);
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

std::vector<std::string> labels_in(const std::vector<TaskRow>& rows, std::size_t width) {
  const Labels labels = labels_of(rows);
  return cut(labels.names, labels.budgets, width);
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
  return words + " Closed loop: " + items_line(result) + ".";
}

std::string drawn_first(std::size_t drawn, std::size_t all) {
  if (drawn == all) return "";
  return "Drawn: the first " + std::to_string(drawn) + " of " + std::to_string(all) + " specs. ";
}

GroupLayout layout_of_groups(const TaskResult& result) {
  GroupLayout layout;
  for (const std::string& name : groups_of(result)) layout.groups.push_back(group_named(name));
  layout.placed = std::ranges::none_of(
      layout.groups, [](const TaskGroup& group) { return group.place_word.empty(); });
  if (!layout.placed) {
    for (TaskGroup& group : layout.groups) group.base = group_words(group.name);
  }
  std::vector<TaskGroup> sorted = layout.groups;
  if (layout.placed) std::ranges::stable_sort(sorted, {}, &TaskGroup::place);
  for (const TaskGroup& group : sorted) {
    add_once(layout.columns, layout.placed ? group.place_word : group.base);
  }
  for (const TaskGroup& group : layout.groups) add_once(layout.bases, group.base);
  layout.by_spec = layout.placed && layout.bases.size() > 1;
  return layout;
}

FittedWords fitted(const std::vector<std::string>& words, double most) {
  return fitted_with(words, std::vector<std::string>(words.size()), most);
}

FittedWords fitted(const std::vector<TaskRow>& rows, double most) {
  const Labels labels = labels_of(rows);
  return fitted_with(labels.names, labels.budgets, most);
}

std::string word_tics(char axis, const std::vector<std::string>& words, const std::string& how) {
  std::vector<std::string> tics;
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string word;  // in which a percent sign begins no format
    for (const char c : words[i]) word += c == '%' ? "%%" : std::string(1, c);
    tics.push_back(gnuplot_quoted(word) + " " + std::to_string(i));
  }
  return "set " + std::string(1, axis) + "tics scale 0 " + how +
         " noenhanced textcolor rgb '#222222' (" + join(tics, ",") + ")\n";
}

}  // namespace kv::reports
