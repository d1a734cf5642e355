#include "kvcheck/reports/page/report_page.h"
#include "kvcheck/reports/tables/task_tables.h"

namespace kv::reports {

std::string tasks_section(const TasksSection& section) {
  const TaskResult& result = *section.result;
  const std::string base = section.folder + "/";
  std::string out = "<section id=\"" + section.folder + "\">\n<h2>" + breakable(result.file) +
                    ": answers</h2>\n<dl>\n" + description("model", result.model) +
                    description("keys and values", stored_text(result.storage, result.cells)) +
                    description("items", task_line(result)) +
                    "</dl>\n<div class=\"wide\" tabindex=\"0\">\n" + to_html(scores_table(result)) +
                    "</div>\n";
  std::string files = link_to(base + "answers.csv", "answers.csv") + ", " +
                      link_to(base + "scores.csv", "scores.csv");
  for (const Score& score : scores()) {
    const Table groups = groups_table(result, score.name);
    if (groups.rows.empty() || !shows_groups(score)) continue;
    const std::string name = "groups-" + std::string(score.name) + ".csv";
    out += "<h3>" + std::string(score.title) + ", by group (items)</h3>\n" +
           "<div class=\"wide\" tabindex=\"0\">\n" + to_html(groups) + "</div>\n";
    files += ", " + link_to(base + name, name);
  }
  out += "<p class=\"files\">Files: " + files + "</p>\n";
  for (const DrawnFigure& figure : section.figures) out += figure_block(figure, section.folder);
  return out + "</section>\n";
}

}  // namespace kv::reports
