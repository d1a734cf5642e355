#include "kvcheck/reports/numbers/labels.h"
#include "kvcheck/reports/numbers/timed_medians.h"
#include "kvcheck/reports/page/report_page.h"
#include "kvcheck/reports/tables/timing_table.h"
#include "kvcheck/sim/replay/timing.h"

namespace kv::reports {

std::string timing_section(const TimingSection& section) {
  const TimingResult& result = *section.result;
  const std::string base = section.folder + "/";
  const std::string weights =
      with_commas((result.weight_bytes + 1023) / 1024) + " KiB, stored " + result.weights;
  const std::size_t runs = timed_runs(result);
  const std::string repeated =
      runs < 2 ? "" : ", and of " + std::to_string(runs) + " runs (least to most)";
  const std::string machines = machines_text(result);
  std::string out =
      "<section id=\"" + section.folder + "\">\n<h2>" + breakable(result.model) +
      ": time and memory</h2>\n<dl>\n" + description("model", result.model) +
      description("weights", weights) +
      description("keys and values", stored_text(result.storage, result.cells)) +
      description("timed", with_commas(result.tokens) +
                               (result.tokens == 1 ? " token" : " tokens, one by one,") +
                               " after each prompt; medians" + repeated) +
      (machines.empty() ? "" : description("machine", machines)) +
      "</dl>\n<div class=\"wide\" tabindex=\"0\">\n" + to_html(timing_table(result)) +
      "</div>\n<p class=\"files\">Files: " + link_to(base + "timings.csv", "timings.csv") + ", " +
      link_to(base + "timings.md", "timings.md") + "</p>\n";
  for (const DrawnFigure& figure : section.figures) out += figure_block(figure, section.folder);
  return out + "</section>\n";
}

}  // namespace kv::reports
