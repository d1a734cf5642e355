#include "kvcheck/reports/numbers/escape.h"
#include "kvcheck/reports/page/report_page.h"

namespace kv::reports {

std::string matrix_section(const MatrixSection& section) {
  if (section.matrix == nullptr) return "";
  const std::string base = section.folder + "/";
  return "<section id=\"" + section.folder +
         "\">\n"
         "<h2>Faults that the laws detect</h2>\n"
         "<p>kvcheck selftest runs the laws of kvcheck check on caches with one known fault "
         "each. " +
         html_escaped(kill_summary(*section.matrix)) + "</p>\n" +
         figure_block(section.figure, section.folder) +
         "<h3>Mutants</h3>\n<div class=\"wide\" tabindex=\"0\">\n" +
         to_html(mutants_table(*section.matrix)) +
         "</div>\n<h3>Laws</h3>\n<div class=\"wide\" tabindex=\"0\">\n" +
         to_html(killing_laws_table(*section.matrix)) +
         "</div>\n<p class=\"files\">Files: " + link_to(base + "mutants.csv", "mutants.csv") +
         ", " + link_to(base + "laws.csv", "laws.csv") + ", " +
         link_to(base + "kill-matrix.md", "kill-matrix.md") + "</p>\n</section>\n";
}

}  // namespace kv::reports
