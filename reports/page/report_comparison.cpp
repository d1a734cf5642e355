#include "kvcheck/reports/numbers/escape.h"
#include "kvcheck/reports/page/report_page.h"

namespace kv::reports {

std::string comparison_section(const ComparisonSection& section) {
  if (section.table.rows.empty()) return "";
  const std::string base = section.folder + "/";
  return "<section id=\"" + section.folder +
         "\">\n<h2>Comparison</h2>\n<div class=\"wide\" tabindex=\"0\">\n" +
         to_html(section.table) + "</div>\n<p>" + html_escaped(section.words) +
         "</p>\n<p class=\"files\">Files: " + link_to(base + "comparison.csv", "comparison.csv") +
         ", " + link_to(base + "comparison.md", "comparison.md") + "</p>\n</section>\n";
}

}  // namespace kv::reports
