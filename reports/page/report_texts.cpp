#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "kvcheck/base/check.h"
#include "kvcheck/base/threads/machine.h"
#include "kvcheck/base/threads/run_tasks.h"
#include "kvcheck/reports/compare/measured.h"
#include "kvcheck/reports/compare/run_sizes.h"
#include "kvcheck/reports/numbers/escape.h"
#include "kvcheck/reports/numbers/labels.h"
#include "kvcheck/reports/page/report_page.h"
#include "kvcheck/reports/store/results.h"

namespace kv::reports {
namespace {

using Window = std::optional<std::size_t>;

// The sizes of windows that a measure is compared in, each alone; one without a value is of all
// texts.
std::vector<Window> windows_to_compare(const std::vector<StoredRun>& runs, const Measure& measure) {
  const std::vector<std::size_t> windows = windows_of(runs);
  if (measure.in != MeasuredIn::evaluations || windows.size() < 2) return {Window()};
  return {windows.begin(), windows.end()};
}

void erase_column(Table& table, std::size_t at) {
  const auto offset = static_cast<std::ptrdiff_t>(at);
  table.columns.erase(table.columns.begin() + offset);
  for (std::vector<Entry>& row : table.rows) row.erase(row.begin() + offset);
}

void move_column(Table& table, std::size_t from, std::size_t to) {
  const auto moved = [&](auto& list) {
    const auto first = list.begin() + static_cast<std::ptrdiff_t>(to);
    const auto last = list.begin() + static_cast<std::ptrdiff_t>(from);
    std::rotate(first, last, last + 1);
  };
  moved(table.columns);
  for (std::vector<Entry>& row : table.rows) moved(row);
}

// The table such that it fits a page: without columns that say nothing of any spec, as p-values of
// few texts, and with the finding beside the difference that it is about.
Table shown_on_page(Table table) {
  for (std::size_t i = table.columns.size(); i-- > 0;) {
    const bool says_nothing = std::ranges::all_of(
        table.rows, [&](const std::vector<Entry>& row) { return row[i].text == "-"; });
    if (!table.columns[i].exact_only && says_nothing) erase_column(table, i);
  }
  const auto place = [&](const char* name) {
    const auto at = std::ranges::find(table.columns, name, &Column::name);
    return static_cast<std::size_t>(at - table.columns.begin());
  };
  const std::size_t finding = place("finding");
  const std::size_t difference = place("difference");
  if (finding < table.columns.size() && difference < finding) {
    move_column(table, finding, difference + 1);
  }
  return table;
}

}  // namespace

std::string TextsComparison::title() const {
  std::string text = comparison.title();
  if (window) {
    text += *window == 0 ? ", not cut" : ", in windows of " + with_commas(*window) + " tokens";
  }
  return text + ", " + std::to_string(comparison.texts) + " " +
         std::string(comparison.measure.units());
}

std::string TextsComparison::file() const {
  const std::string cut = window ? "-windows-" + std::to_string(*window) : "";
  return std::string(comparison.measure.name) + cut + ".csv";
}

TextsSection over_texts(const std::vector<StoredRun>& runs, const std::string& folder) {
  std::vector<std::pair<Measure, Window>> compared;
  for (const Measure& measure : measures()) {
    // A text that two models read is not two texts.
    if (measure.only_asked_for || settings_in(runs, measure.in).size() > 1) continue;
    for (const Window& window : windows_to_compare(runs, measure)) {
      compared.emplace_back(measure, window);
    }
  }
  std::vector<std::optional<Comparison>> made(compared.size());
  const auto compare = [&](const RunningTask& task) -> Result<void> {
    const auto& [measure, window] = compared[task.index()];
    made[task.index()] = compare_specs(measured(runs, measure, {.window = window}), measure, {});
    return {};
  };
  KV_CHECK(run_tasks(compared.size(), machine_threads(), compare));  // no task has an error
  TextsSection section{.folder = folder};
  for (std::size_t i = 0; i < made.size(); ++i) {
    Comparison& comparison = *made[i];
    if (comparison.rows.empty() || comparison.texts < 2) continue;
    section.comparisons.push_back(
        {.comparison = std::move(comparison), .window = compared[i].second});
  }
  return section;
}

std::string texts_section(const TextsSection& section) {
  if (section.comparisons.empty()) return "";
  std::string out = "<section id=\"" + section.folder + "\">\n<h2>All texts</h2>\n";
  std::string files;
  std::vector<std::pair<std::string, std::string>> shown;  // tables, and what they are of
  for (const TextsComparison& one : section.comparisons) {
    const std::string table = to_html(shown_on_page(table_of(one.comparison)));
    const auto same = std::ranges::find(shown, table, &std::pair<std::string, std::string>::first);
    out += "<h3>" + html_escaped(one.title()) + "</h3>\n";
    // As scores of answers are that have one word.
    if (same != shown.end()) {
      out +=
          "<p>The table has the same numbers as that of " + html_escaped(same->second) + ".</p>\n";
    } else {
      out += "<div class=\"wide\" tabindex=\"0\">\n" + table + "</div>\n<p>" +
             html_escaped(words_of(one.comparison)) + "</p>\n";
      shown.emplace_back(table, one.title());
    }
    files += (files.empty() ? "" : ", ") + link_to(section.folder + "/" + one.file(), one.file());
  }
  return out + "<p class=\"files\">Files: " + files + "</p>\n</section>\n";
}

}  // namespace kv::reports
