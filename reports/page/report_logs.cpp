#include "kvcheck/reports/page/report_page.h"

namespace kv::reports {

std::string logs_section(const LogsSection& section) {
  if (section.models.empty()) return "";
  const std::string base = section.folder + "/";
  return "<section id=\"" + section.folder +
         "\">\n"
         "<h2>Logs of other programs</h2>\n"
         "<p>Models that kvcheck did not run, for comparison. A column with a range is over the "
         "targets in that range of the text, as far as the log reaches.</p>\n"
         "<div class=\"wide\" tabindex=\"0\">\n" +
         to_html(loss_log_table(section.models)) + "</div>\n<p class=\"files\">Files: " +
         link_to(base + "perplexities.csv", "perplexities.csv") + ", " +
         link_to(base + "perplexities.md", "perplexities.md") + "</p>\n" +
         figure_block(section.figure, section.folder) + "</section>\n";
}

}  // namespace kv::reports
