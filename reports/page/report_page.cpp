#include "kvcheck/reports/page/report_page.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "kvcheck/base/text/text.h"
#include "kvcheck/base/version.h"
#include "kvcheck/reports/numbers/escape.h"
#include "kvcheck/reports/numbers/labels.h"
#include "kvcheck/reports/page/findings.h"
#include "kvcheck/reports/page/report_folder.h"
#include "kvcheck/reports/store/stored_names.h"
#include "kvcheck/reports/tables/bounds_table.h"
#include "kvcheck/reports/tables/closed_loop_tables.h"
#include "kvcheck/reports/tables/summary_table.h"
#include "kvcheck/sim/replay/closed_loop.h"
#include "kvcheck/sim/replay/timing.h"

namespace kv::reports {
namespace {

std::string plural(std::size_t n, const std::string& noun) {
  return std::to_string(n) + " " + noun + (n == 1 ? "" : "s");
}

std::string three_digits(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3g", value);
  return text.data();
}

std::string shape_of(const TraceInfo& trace) {
  std::string text = plural(trace.tokens, "token") + ", " + plural(trace.layers.size(), "layer") +
                     ", " + plural(trace.query_heads, "query head") + " and " +
                     plural(trace.kv_heads, "key/value head") + " each";
  if (trace.head_dim > 0) text += ", " + plural(trace.head_dim, "dimension") + " a head";
  if (!trace.queries.empty()) {
    text += "; " + with_commas(trace.queries.size()) + " of the queries are recorded";
  }
  return text + marks_text(trace.marks);
}

std::string kind_of(const TraceInfo& trace) {
  const std::string numbers = " (" + std::string(stored_word(trace.number)) + ")";
  if (trace.kind == TraceKind::attention) return "rows of attention probabilities" + numbers;
  return "queries, keys and values before rotation" + numbers;
}

std::string loop_of(const TraceInfo& trace) {
  if (const std::string_view policy = policy_recorded(trace); !policy.empty()) {
    return "closed: the attention was recorded from a model that ran on what " +
           std::string(policy) +
           " left. What that had evicted has no attention here, so retained mass is a share of "
           "what was left then.";
  }
  if (generated(trace)) {
    return "open: the attention was made by the generator, with nothing evicted. A policy changes "
           "what is counted, not the stream.";
  }
  // An attention dump names no model, and its origin is unknown.
  std::string text = trace.model.empty()
                         ? "open: the attention was recorded with nothing evicted. A policy "
                           "changes what is counted, not what was recorded."
                         : "open: the attention was recorded from a model that evicted nothing. A "
                           "policy changes what is counted, not what the model computed.";
  const auto is_first = [](std::size_t layer) { return layer == 0; };
  if (std::ranges::all_of(trace.layers, is_first)) return text;
  return text + (std::ranges::any_of(trace.layers, is_first)
                     ? " The numbers are exact for the first layer and first order above it."
                     : " No recorded layer is the first: the numbers are first order.");
}

std::string dense_of(const ReplayResult& result) {
  if (result.dense.empty()) return "";
  double first = 0;
  double recent = 0;
  double entropy = 0;
  const auto n = static_cast<double>(result.dense.size());
  for (const DenseFacts& head : result.dense) {
    first += head.first_mass / n;
    recent += head.recent_mass / n;
    entropy += head.entropy / n;
  }
  return "mean over heads: " + three_digits(first) + " of the mass on position 0, " +
         three_digits(recent) + " on the last 64 tokens; entropy " + three_digits(entropy) +
         " nats a row";
}

std::string facts_of(const ReplayResult& result) {
  const TraceInfo& trace = result.trace;
  return "<dl>\n" + description("trace", trace.name) + description("holds", kind_of(trace)) +
         description("model", trace.model) + description("source", trace.source) +
         description("licence", trace.licence) + description("size", shape_of(trace)) +
         description("checksum", "XXH3-64 " + hexadecimal(trace.checksum)) +
         description("loop", loop_of(trace)) + description("dense attention", dense_of(result)) +
         "</dl>\n";
}

std::string words_of(const ReplayResult& result) {
  return "<p>Retained mass is the share of dense attention whose keys were still in the cache. "
         "<em>Once evicting</em>: the mean over the queries from the first one on that cannot see "
         "every token, for all heads alike; top-k, output error and KL are of the same queries. "
         "The mean over all queries also counts those before it, at which every policy retains "
         "everything, so do not compare it between budgets or between traces of other lengths. "
         "Top-k (k = " +
         std::to_string(result.top_k) +
         ") is the share of the k largest dense weights that are also among the largest visible "
         "ones; with k = 0 there is none. Output error is relative to the dense attention output. "
         "KL is the divergence of the row over the visible "
         "keys from the dense row. At positions of the stream it is -ln(retained mass) at every "
         "query, so it is shown only for positions that are ranks. All are means over queries, "
         "then over query heads. Visible is the mean number of rows that a query sees. Stored peak "
         "is the largest number of rows that a unit held. Evictions are evicted tokens, summed "
         "over units (do not compare them between specs with different units). KiB is the size of "
         "the keys and values with every unit at its own peak. The heads of one model on one text "
         "are no sample of texts, so no mean has an interval here. For policies that draw, "
         "summary.csv has retained_mass_seeds_interval, half of the 95 % t-interval over seeds of "
         "the mean over heads; it is empty with one seed. " +
         html_escaped(sample_words(result)) + "</p>\n";
}

std::string bounds_of(const TraceSection& section) {
  if (!has_bounds(*section.result)) return "";
  return "<h3>What any cache could have retained</h3>\n<div class=\"wide\" tabindex=\"0\">\n" +
         to_html(bounds_table(*section.result)) + "</div>\n<p>" +
         html_escaped(bounds_words(*section.result)) + "</p>\n";
}

std::string rows_of(const Table& table, bool more, const char* heading) {
  const Table rows = rows_that_store(table, more);
  if (rows.rows.empty()) return "";
  return "<h3>" + std::string(heading) + "</h3>\n<div class=\"wide\" tabindex=\"0\">\n" +
         to_html(rows) + "</div>\n";
}

std::string table_of(const TraceSection& section) {
  const std::string base = section.folder + "/";
  const std::string bounds =
      has_bounds(*section.result) ? ", " + link_to(base + "bounds.csv", "bounds.csv") : "";
  const Table summary = summary_table(*section.result);
  return rows_of(summary, false, "Summary, by budget and retained mass") +
         rows_of(summary, true, "Caches that store more than their budget, or evict nothing") +
         bounds_of(section) +
         "<h3>Specs</h3>\n<details>\n<summary>Every setting of each spec</summary>\n"
         "<div class=\"wide specs\" tabindex=\"0\">\n" +
         to_html(specs_table(*section.result)) + "</div>\n</details>\n<p class=\"files\">Files: " +
         link_to(base + "summary.csv", "summary.csv") + ", " +
         link_to(base + "summary.md", "summary.md") + ", " +
         link_to(base + "cells.csv", "cells.csv") + ", " +
         link_to(base + "cells.jsonl", "cells.jsonl") + ", " +
         link_to(base + "heads.csv", "heads.csv") + ", " +
         link_to(base + "series.csv", "series.csv") + ", " +
         link_to(base + "dense.csv", "dense.csv") + bounds + "</p>\n";
}

std::string explorer_of(const TraceSection& section) {
  if (section.explorer.empty()) return "";
  return "<p>" + link_to(section.explorer, "Step through this stream") +
         " to see which tokens each cache keeps.</p>\n";
}

std::string section_of(const TraceSection& section) {
  std::string out = "<section id=\"" + section.folder + "\">\n<h2>" +
                    breakable(short_name(section.result->trace)) + "</h2>\n" +
                    facts_of(*section.result) + explorer_of(section) + table_of(section) +
                    words_of(*section.result) + section.words;
  for (const DrawnFigure& figure : section.figures) out += figure_block(figure, section.folder);
  return out + "</section>\n";
}

template <typename Section, typename Name>
std::string links_to(const char* term, const std::vector<Section>& sections, const Name& name) {
  if (sections.empty()) return "";
  std::string out = "<dt>" + std::string(term) + "</dt><dd>";
  for (const Section& section : sections) {
    if (&section != &sections.front()) out += "<br>";
    out += link_to("#" + section.folder, breakable(name(section)));
  }
  return out + "</dd>\n";
}

const char* heading_of(bool traces, bool evaluations) {
  if (!evaluations && !traces) return "How fast a model runs under eviction policies";
  if (!evaluations) return "What eviction policies keep of attention";
  return traces ? "What eviction policies keep of attention, and what they cost a model"
                : "What eviction policies cost a model";
}

template <typename Section, typename Name>
std::string side_links(const std::vector<Section>& sections, const Name& name) {
  std::string out;
  for (const Section& section : sections) {
    out += link_to("#" + section.folder, breakable(name(section))) + "\n";
    for (const DrawnFigure& drawn : section.figures) {
      out += "<a class=\"part\" href=\"#" + section.folder + "-" + drawn.figure.name + "\">" +
             html_escaped(drawn.figure.title) + "</a>\n";
    }
  }
  return out;
}

std::string side_of(const ReportSections& page) {
  std::string out = "<nav class=\"side\" aria-label=\"sections\">\n";
  if (!page.comparison.table.rows.empty()) {
    out += link_to("#" + page.comparison.folder, "comparison") + "\n";
  }
  if (!page.texts.comparisons.empty()) out += link_to("#" + page.texts.folder, "all texts") + "\n";
  out += side_links(page.traces,
                    [](const TraceSection& section) { return short_name(section.result->trace); });
  out += side_links(page.evaluations,
                    [](const EvaluationSection& section) { return text_of(*section.result); });
  out += side_links(page.timings, [](const TimingSection& section) {
    return "time and memory of " + section.result->model;
  });
  out += side_links(
      page.tasks, [](const TasksSection& section) { return "answers to " + section.result->file; });
  if (!page.logs.models.empty()) out += link_to("#" + page.logs.folder, "logs") + "\n";
  if (page.matrix.matrix != nullptr) out += link_to("#" + page.matrix.folder, "laws") + "\n";
  return out + "</nav>\n";
}

std::string head_of(const ReportSections& page) {
  std::string out = "<h1>" +
                    std::string(heading_of(!page.traces.empty(),
                                           !page.evaluations.empty() || !page.tasks.empty())) +
                    "</h1>\n";
  for (const RunSummary& run : page.runs) {
    if (run.complete) continue;
    out += "<p class=\"note\">Run " + std::to_string(run.id) +
           " did not finish. The page shows what it had stored; what is missing may be better "
           "than what is called best here.</p>\n";
  }
  out += page_findings(page) + "<dl>\n";
  for (const RunSummary& run : page.runs) {
    out += description("command", run.command) + description("run", std::to_string(run.id)) +
           description("version", "kvcheck " + run.version);
  }
  if (!page.comparison.table.rows.empty()) {
    out += "<dt>comparison</dt><dd>" + link_to("#" + page.comparison.folder, "all in one table") +
           "</dd>\n";
  }
  if (!page.texts.comparisons.empty()) {
    out +=
        "<dt>all texts</dt><dd>" + link_to("#" + page.texts.folder, "ranks and tests") + "</dd>\n";
  }
  out += links_to("traces", page.traces,
                  [](const TraceSection& section) { return short_name(section.result->trace); });
  out += links_to("evaluations", page.evaluations,
                  [](const EvaluationSection& section) { return text_of(*section.result); });
  out += links_to("time and memory", page.timings,
                  [](const TimingSection& section) { return section.result->model; });
  out += links_to("answers", page.tasks,
                  [](const TasksSection& section) { return section.result->file; });
  if (!page.logs.models.empty()) {
    out += "<dt>logs</dt><dd>" + link_to("#" + page.logs.folder, "of other programs") + "</dd>\n";
  }
  if (page.matrix.matrix != nullptr) {
    out += "<dt>laws</dt><dd>" + link_to("#" + page.matrix.folder, "faults that they detect") +
           "</dd>\n";
  }
  out += "</dl>\n";
  if (page.left_out > 0) {
    const std::size_t all = page.traces.size() + page.evaluations.size() + page.left_out;
    out += "<p class=\"note\">" + std::to_string(all - page.left_out) + " of " +
           std::to_string(all) +
           " texts have sections of their own here. All of them are in the "
           "comparisons below; kvcheck report --sections " +
           std::to_string(all) + " shows each.</p>\n";
  }
  return out;
}

}  // namespace

std::string report_page(const ReportSections& page) {
  std::string out = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  out += report_mark + html_escaped(version) + "\">\n";
  out +=
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>kvcheck report</title>\n<style>";
  out += report_style;
  out += "</style>\n</head>\n<body>\n" + side_of(page) + "<main>\n" + head_of(page) +
         comparison_section(page.comparison) + texts_section(page.texts);
  for (const TraceSection& section : page.traces) out += section_of(section);
  for (const EvaluationSection& section : page.evaluations) out += evaluation_section(section);
  for (const TimingSection& section : page.timings) out += timing_section(section);
  for (const TasksSection& section : page.tasks) out += tasks_section(section);
  out += logs_section(page.logs) + matrix_section(page.matrix);
  out += "</main>\n<script>";
  out += report_script;
  return out + "</script>\n</body>\n</html>\n";
}

}  // namespace kv::reports
