#include "kvcheck/reports/numbers/escape.h"
#include "kvcheck/reports/page/report_page.h"

namespace kv::reports {

std::string texts_section(const TextsSection& section) {
  if (section.comparisons.empty()) return "";
  std::string out = "<section id=\"" + section.folder + "\">\n<h2>All texts</h2>\n";
  std::string files;
  for (const Comparison& comparison : section.comparisons) {
    const std::string name = std::string(comparison.measure.name) + ".csv";
    out += "<h3>" + html_escaped(comparison.measure.title) + ", " +
           std::to_string(comparison.texts) + " " + std::string(comparison.measure.units()) +
           "</h3>\n<div class=\"wide\" tabindex=\"0\">\n" + to_html(table_of(comparison)) +
           "</div>\n<p>" + html_escaped(words_of(comparison)) + "</p>\n";
    files += (files.empty() ? "" : ", ") + link_to(section.folder + "/" + name, name);
  }
  return out + "<p class=\"files\">Files: " + files + "</p>\n</section>\n";
}

}  // namespace kv::reports
