#include <algorithm>
#include <array>
#include <string_view>

#include "kvcheck/reports/numbers/escape.h"
#include "kvcheck/reports/page/report_page.h"
#include "kvcheck/reports/tables/summary_table.h"

namespace kv::reports {
namespace {

// Columns that the page leaves to the files, so that the rest fits a window of 1,400 pixels.
constexpr std::array<std::string_view, 6> only_in_files = {
    "p_next", "output_error_after", "recall_1_32", "recall_32_64", "rows_moved", "attention_us"};

std::string part(const Table& whole, bool more, const char* heading) {
  Table some = rows_that_store(whole, more);
  for (Column& column : some.columns) {
    if (std::ranges::find(only_in_files, column.name) != only_in_files.end()) {
      column.exact_only = true;
    }
  }
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
