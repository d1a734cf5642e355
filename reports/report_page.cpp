#include "reports/report_page.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/version.h"
#include "reports/escape.h"
#include "reports/labels.h"
#include "reports/report_folder.h"
#include "reports/stored_words.h"

namespace kv {
namespace {

// A generator's spec is one long word; it may break after its commas.
std::string breakable(const std::string& text) {
  std::string out;
  for (const char c : html_escaped(text))
    out += c == ',' ? std::string(",<wbr>") : std::string(1, c);
  return out;
}

std::string item(const std::string& term, const std::string& text) {
  if (text.empty()) return "";
  return "<dt>" + term + "</dt><dd>" + breakable(text) + "</dd>\n";
}

std::string link(const std::string& target, const std::string& text) {
  return "<a href=\"" + html_escaped(target) + "\">" + text + "</a>";
}

std::string plural(std::size_t n, const std::string& noun) {
  return std::to_string(n) + " " + noun + (n == 1 ? "" : "s");
}

std::string hexadecimal(std::uint64_t value) {
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(value));
  return text.data();
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
  return text;
}

std::string kind_of(const TraceInfo& trace) {
  const std::string numbers = " (" + std::string(stored_word(trace.number)) + ")";
  if (trace.kind == TraceKind::attention) return "rows of attention probabilities" + numbers;
  return "queries, keys and values before rotation" + numbers;
}

std::string loop_of(const TraceInfo& trace) {
  if (trace.loop != "open") return trace.loop;
  if (generated(trace)) {
    return "open: the attention was made by the generator, with nothing evicted. A policy changes "
           "what is counted, not the stream.";
  }
  // A dump names no model, and may come from anywhere.
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
  return "<dl>\n" + item("trace", trace.name) + item("holds", kind_of(trace)) +
         item("model", trace.model) + item("source", trace.source) +
         item("licence", trace.licence) + item("size", shape_of(trace)) +
         item("checksum", "XXH3-64 " + hexadecimal(trace.checksum)) + item("loop", loop_of(trace)) +
         item("dense attention", dense_of(result)) + "</dl>\n";
}

std::string words_of(const ReplayResult& result) {
  return "<p>Retained mass is the share of dense attention whose keys were still in the cache. KL "
         "is "
         "the divergence of the renormalised row from the dense row. Top-k is the share of the " +
         std::to_string(result.top_k) +
         " largest dense weights found again among the largest of what is left. Output error is "
         "relative to the dense attention output. All four are means over queries, then over query "
         "heads. Visible is the mean number of rows that a query sees, stored peak the most rows "
         "that a unit held, evictions are rows evicted, summed over "
         "units (not comparable between specs of different unit), and KiB is the peak size of the "
         "keys and values of all units. Intervals (\xC2\xB1) are 95 % t-intervals over query "
         "heads, "
         "seeds averaged first: they show the spread across heads. For policies that draw, "
         "summary.csv also has "
         "retained_mass_seeds_interval, half of the 95 % t-interval over seeds of the mean over "
         "heads; it is empty with one seed.</p>\n";
}

std::string table_of(const TraceSection& section) {
  const std::string base = section.folder + "/";
  return "<h3>Summary, by retained mass</h3>\n<div class=\"wide\" tabindex=\"0\">\n" +
         to_html(summary_table(*section.result)) +
         "</div>\n<h3>Specs</h3>\n<div class=\"wide\" tabindex=\"0\">\n" +
         to_html(specs_table(*section.result)) +
         "</div>\n<p class=\"files\">Files: " + link(base + "summary.csv", "summary.csv") + ", " +
         link(base + "summary.md", "summary.md") + ", " + link(base + "cells.csv", "cells.csv") +
         ", " + link(base + "cells.jsonl", "cells.jsonl") + ", " +
         link(base + "heads.csv", "heads.csv") + ", " + link(base + "series.csv", "series.csv") +
         ", " + link(base + "dense.csv", "dense.csv") + "</p>\n";
}

std::string figure_of(const std::string& folder, const DrawnFigure& drawn) {
  const Figure& figure = drawn.figure;
  const std::string base = folder + "/" + figure.name;
  std::string out = "<h3>" + html_escaped(figure.title) + "</h3>\n";
  if (drawn.svg.empty()) {
    out += "<p class=\"note\">" + html_escaped(drawn.problem) + "</p>\n";
    return out + "<p class=\"files\">" + link(base + ".csv", "CSV") + "</p>\n";
  }
  return out + "<figure>\n<div class=\"wide\" tabindex=\"0\">\n" +
         inline_svg(drawn.svg, folder + "-" + figure.name + "-", figure.title) +
         "</div>\n<figcaption>" + html_escaped(figure.caption) + "</figcaption>\n</figure>\n" +
         "<p class=\"files\">" + link(base + ".svg", "SVG") + ", " + link(base + ".png", "PNG") +
         ", " + link(base + ".csv", "CSV") + "</p>\n";
}

std::string section_of(const TraceSection& section) {
  std::string out = "<section id=\"" + section.folder + "\">\n<h2>" +
                    breakable(short_name(section.result->trace)) + "</h2>\n" +
                    facts_of(*section.result) + table_of(section) + words_of(*section.result);
  for (const DrawnFigure& figure : section.figures) out += figure_of(section.folder, figure);
  return out + "</section>\n";
}

std::string section_of(const MatrixSection& section) {
  if (section.matrix == nullptr) return "";
  const std::string base = section.folder + "/";
  return "<section id=\"" + section.folder +
         "\">\n<h2>What the laws catch</h2>\n<p>kvcheck selftest holds the laws of kvcheck check "
         "to "
         "caches that are wrong on purpose. " +
         html_escaped(kill_summary(*section.matrix)) + "</p>\n" +
         figure_of(section.folder, section.figure) +
         "<h3>Mutants</h3>\n<div class=\"wide\" tabindex=\"0\">\n" +
         to_html(mutants_table(*section.matrix)) +
         "</div>\n<h3>Laws</h3>\n<div class=\"wide\" tabindex=\"0\">\n" +
         to_html(killing_laws_table(*section.matrix)) +
         "</div>\n<p class=\"files\">Files: " + link(base + "mutants.csv", "mutants.csv") + ", " +
         link(base + "laws.csv", "laws.csv") + ", " +
         link(base + "kill-matrix.md", "kill-matrix.md") + "</p>\n</section>\n";
}

std::string head_of(const RunSummary& run,
                    const std::vector<TraceSection>& sections,
                    const MatrixSection& matrix) {
  std::string out = "<h1>What eviction policies keep of attention</h1>\n<dl>\n" +
                    item("command", run.command) + item("run", std::to_string(run.id)) +
                    item("version", "kvcheck " + run.version) + "<dt>traces</dt><dd>";
  for (const TraceSection& section : sections) {
    if (&section != &sections.front()) out += "<br>";
    out += link("#" + section.folder, breakable(short_name(section.result->trace)));
  }
  out += "</dd>\n";
  if (matrix.matrix != nullptr) {
    out += "<dt>laws</dt><dd>" + link("#" + matrix.folder, "what they catch") + "</dd>\n";
  }
  out += "</dl>\n";
  if (run.complete) return out;
  return out +
         "<p class=\"note\">This run did not finish. What follows is what it had stored.</p>\n";
}

}  // namespace

std::string report_page(const RunSummary& run,
                        const std::vector<TraceSection>& sections,
                        const MatrixSection& matrix) {
  std::string out = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  out += report_mark + html_escaped(version) + "\">\n";
  out +=
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>kvcheck report</title>\n<style>";
  out += report_style;
  out += "</style>\n</head>\n<body>\n<main>\n" + head_of(run, sections, matrix);
  for (const TraceSection& section : sections) out += section_of(section);
  out += section_of(matrix);
  out += "</main>\n<script>";
  out += report_script;
  return out + "</script>\n</body>\n</html>\n";
}

}  // namespace kv
