#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

#include "kvcheck/reports/numbers/escape.h"
#include "kvcheck/reports/page/report_page.h"

namespace kv::reports {
namespace {

// Columns that the page leaves to the files, so that the rest fits a window of 1,400 pixels.
constexpr std::array<std::string_view, 6> only_in_files = {
    "p_next", "output_error", "recall_1_32", "recall_32_64", "rows_moved", "attention_us"};

std::size_t column_of(const Table& table, std::string_view name) {
  const auto found = std::ranges::find(table.columns, name, &Column::name);
  return static_cast<std::size_t>(found - table.columns.begin());
}

// Whether a unit holds clearly more rows than the budget of its row: a chunk more is the usual
// timing, more than a tenth is a larger cache, whose numbers are no match for those of the others.
bool stores_more(const Table& table, const std::vector<Entry>& row) {
  const std::string& budget = row[column_of(table, "budget")].exact;
  const std::string& stored = row[column_of(table, "stored_peak")].exact;
  if (budget.empty() || stored.empty()) return true;  // nothing is evicted
  return std::strtod(stored.c_str(), nullptr) > 1.1 * std::strtod(budget.c_str(), nullptr) + 1;
}

std::string part(const Table& whole, bool more, const char* heading) {
  Table some{.columns = whole.columns, .rows = {}};
  for (Column& column : some.columns) {
    if (std::ranges::find(only_in_files, column.name) != only_in_files.end()) {
      column.exact_only = true;
    }
  }
  std::ranges::copy_if(whole.rows, std::back_inserter(some.rows),
                       [&](const auto& row) { return stores_more(whole, row) == more; });
  if (some.rows.empty()) return "";
  return "<h3>" + std::string(heading) + "</h3>\n<div class=\"wide\" tabindex=\"0\">\n" +
         to_html(some) + "</div>\n";
}

}  // namespace

std::string comparison_section(const ComparisonSection& section) {
  if (section.table.rows.empty()) return "";
  const std::string base = section.folder + "/";
  return "<section id=\"" + section.folder + "\">\n<h2>Comparison</h2>\n" +
         part(section.table, false, "Caches that store no more than their budget") +
         part(section.table, true, "Caches that store more, or evict nothing") + "<p>" +
         html_escaped(section.words) +
         " The files also have p, output error, recall of near facts, rows moved and "
         "times.</p>\n<p class=\"files\">" +
         "Files: " + link_to(base + "comparison.csv", "comparison.csv") + ", " +
         link_to(base + "comparison.md", "comparison.md") + "</p>\n</section>\n";
}

}  // namespace kv::reports
