// The report's page: HTML text from numbers and drawn figures.
#pragma once

#include <string>
#include <vector>

#include "kvcheck/reports/plot/figure.h"
#include "kvcheck/reports/store/results.h"
#include "kvcheck/reports/tables/kill_matrix.h"
#include "kvcheck/reports/tables/loss_log.h"
#include "kvcheck/reports/tables/tables.h"

namespace kv::reports {

// A figure as the page shows it.
struct DrawnFigure {
  Figure figure;
  std::string svg;      // the drawing; empty when there is none
  std::string problem;  // why there is none
};

struct TraceSection {
  const ReplayResult* result = nullptr;
  std::string folder;  // where its files lie, relative to the page
  std::vector<DrawnFigure> figures;
};

// Which law kills which mutant, if the report is to tell.
struct MatrixSection {
  const KillMatrix* matrix = nullptr;  // null: it is not
  std::string folder;
  DrawnFigure figure;
};

// Logs of other programs, if the report is to show any.
struct LogsSection {
  std::vector<LossLogs> models;
  std::string folder;
  DrawnFigure figure;
};

struct EvaluationSection {
  const ClosedLoopResult* result = nullptr;
  std::string folder;
  std::vector<DrawnFigure> figures;
};

struct TimingSection {
  const TimingResult* result = nullptr;
  std::string folder;
  std::vector<DrawnFigure> figures;
};

// Both loops and times side by side, if the report has what it takes.
struct ComparisonSection {
  Table table{};  // without rows: it has not
  std::string words{};
  std::string folder{};
};

// All that a page shows.
struct ReportSections {
  std::vector<RunSummary> runs{};
  ComparisonSection comparison{};
  std::vector<TraceSection> traces{};
  std::vector<EvaluationSection> evaluations{};
  std::vector<TimingSection> timings{};
  LogsSection logs{};
  MatrixSection matrix{};
};

// The whole page. Every text that came from outside is escaped.
std::string report_page(const ReportSections& sections);

// The comparison's part of the page, an evaluation's, a timing's, the logs', and the matrix's; the
// first and the last two are empty where there are none.
std::string comparison_section(const ComparisonSection& section);
std::string evaluation_section(const EvaluationSection& section);
std::string timing_section(const TimingSection& section);
std::string logs_section(const LogsSection& section);
std::string matrix_section(const MatrixSection& section);

// A figure with its caption and links to its files in `folder`.
std::string figure_block(const DrawnFigure& drawn, const std::string& folder);

// Pieces of HTML: an entry of a description list (nothing where the text is empty), a link, and a
// text that may break after its commas.
std::string description(const std::string& term, const std::string& text);
std::string link_to(const std::string& target, const std::string& text);
std::string breakable(const std::string& text);

// An SVG file's text made fit to stand inside a page: no XML declaration, ids with `prefix`, so
// that drawings do not answer for each other, and a name for those who cannot see it.
std::string inline_svg(std::string_view svg, const std::string& prefix, const std::string& name);

// The page's style sheet and its script, which sorts tables.
extern const char* const report_style;
extern const char* const report_script;

}  // namespace kv::reports
