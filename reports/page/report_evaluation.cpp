#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/numbers/escape.h"
#include "kvcheck/reports/numbers/labels.h"
#include "kvcheck/reports/page/report_page.h"
#include "kvcheck/reports/tables/closed_loop_tables.h"
#include "kvcheck/reports/tables/loops_table.h"
#include "kvcheck/sim/replay/closed_loop.h"

namespace kv::reports {
namespace {

std::string facts_of(const ClosedLoopResult& result) {
  const std::string kib = with_commas((result.weight_bytes + 1023) / 1024);
  const std::string text = "XXH3-64 " + hexadecimal(result.checksum);
  std::string cut = "one cache over the whole stream";
  if (result.streams > 1) cut = "every stream begins with an empty cache";
  if (result.window > 0) cut = "every window begins with an empty cache";
  return "<dl>\n" + description("model", result.model) +
         description("weights", kib + " KiB, trained on " + with_commas(result.context) +
                                    " tokens; " + result.architecture) +
         description("text", result.text) +
         description("size", text_of(result) + "; " + cut + marks_text(result.marks)) +
         description("checksum", text) +
         description("keys and values", stored_text(result.storage, result.cells)) +
         description("loop",
                     "closed: the model ran on what each policy kept, so that evictions change "
                     "everything that "
                     "it computes afterwards.") +
         "</dl>\n";
}

std::string table_block(const Table& table, const std::string& heading) {
  return "<h3>" + heading + "</h3>\n<div class=\"wide\" tabindex=\"0\">\n" + to_html(table) +
         "</div>\n";
}

std::string words_of(const ClosedLoopResult& result) {
  std::string words =
      "<p>Perplexity is exp of the mean of -ln of the probability that the model gave to the "
      "token that came next; a column with a range is over the targets in that range of their "
      "stream.";
  const std::string after = perplexity_words(result);
  if (!after.empty()) words += " " + after;
  if (result.asks()) {
    words +=
        " Recall is the share of the text's questions whose likeliest next token was the answer; "
        "columns are the distance in tokens to the latest mention of the fact, with the number of "
        "questions in parentheses. Policies may rank differently on short prompts and on a stream "
        "that is much longer than the model's training context, so look at both.";
  }
  return words +
         " KiB is the size of keys and values at their peak, which is the largest number of rows "
         "stored at once, while a chunk is taken in.</p>\n";
}

std::string files_of(const EvaluationSection& section) {
  std::string out = "<p class=\"files\">Files: ";
  bool first = true;
  for (const std::string name :
       {"perplexities.csv", "perplexity.md", "recalls.csv", "recall.md", "loops.csv", "loops.md",
        "cells.csv", "cells.jsonl", "series.csv"}) {
    if (name.starts_with("recall") && !section.result->asks()) continue;
    if (name.starts_with("loops") && !has_open_loop(*section.result)) continue;
    out += (first ? "" : ", ") + link_to(section.folder + "/" + name, name);
    first = false;
  }
  return out + "</p>\n";
}

}  // namespace

std::string evaluation_section(const EvaluationSection& section) {
  const ClosedLoopResult& result = *section.result;
  std::string out = "<section id=\"" + section.folder + "\">\n<h2>" + breakable(text_of(result)) +
                    " (closed loop)</h2>\n" + facts_of(result) +
                    table_block(perplexity_table(result), "Perplexity");
  if (result.asks()) out += table_block(recall_table(result), "Recall by distance");
  if (has_open_loop(result)) {
    out += table_block(loops_table(result), "Open and closed loop side by side") + "<p>" +
           loops_words(result) + "</p>\n";
  }
  out += files_of(section) + words_of(result);
  for (const DrawnFigure& figure : section.figures) out += figure_block(figure, section.folder);
  return out + "</section>\n";
}

}  // namespace kv::reports
