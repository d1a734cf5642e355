// The report's page: HTML text from numbers and drawn figures.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "kvcheck/reports/compare/compare_tables.h"
#include "kvcheck/reports/plot/figure.h"
#include "kvcheck/reports/store/run_summary.h"
#include "kvcheck/reports/tables/kill_matrix.h"
#include "kvcheck/reports/tables/loss_log.h"
#include "kvcheck/reports/tables/tables.h"

namespace kv {
struct ClosedLoopResult;
struct ReplayResult;
struct TaskResult;
struct TimingResult;
}  // namespace kv

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
  std::string
      explorer{};       // the page that steps through its stream, as a link; empty: there is none
  std::string words{};  // the text with what remains of it, as HTML; empty: there is none
};

// Which law kills which mutant, if the report shows it.
struct MatrixSection {
  const KillMatrix* matrix = nullptr;  // null: it does not
  std::string folder;
  DrawnFigure figure;
};

// Logs of other programs, if the report shows any.
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

// Both loops and times side by side, if the report has the results for it.
struct ComparisonSection {
  Table table{};  // no rows: it does not
  std::string words{};
  std::string folder{};
};

// One measure over several texts.
struct TextsComparison {
  Comparison comparison;
  // The size of the windows that the texts were cut into (0: not cut), where the runs have several.
  std::optional<std::size_t> window{};

  [[nodiscard]] std::string title() const;
  [[nodiscard]] std::string file() const;  // loss.csv, or loss-windows-256.csv
};

// What several texts say together, if there are several.
struct TextsSection {
  std::string folder{};
  std::vector<TextsComparison> comparisons{};  // empty: there are not
};

// The answers to the items of a task file.
struct TasksSection {
  const TaskResult* result = nullptr;
  std::string folder{};
  std::vector<DrawnFigure> figures{};
};

struct ExplorerTrace;
struct StoredRun;

// Everything that a page shows.
struct ReportSections {
  std::vector<RunSummary> runs{};
  ComparisonSection comparison{};
  TextsSection texts{};
  std::vector<TraceSection> traces{};
  std::vector<EvaluationSection> evaluations{};
  std::vector<TimingSection> timings{};
  std::vector<TasksSection> tasks{};
  LogsSection logs{};
  MatrixSection matrix{};
  std::size_t left_out = 0;  // traces and evaluations without a section
};

// The whole page. Every text from outside the program is escaped.
std::string report_page(const ReportSections& sections);

// The comparisons of all runs that have two texts or more. A text in windows of two sizes is not
// two texts, so every size has comparisons of its own.
TextsSection over_texts(const std::vector<StoredRun>& runs, const std::string& folder);

// The parts of the page for the comparison, all texts, an evaluation, a timing, a task file, the
// logs and the matrix. The first two and the last two are empty if the report has none.
std::string comparison_section(const ComparisonSection& section);
std::string texts_section(const TextsSection& section);
std::string evaluation_section(const EvaluationSection& section);
std::string timing_section(const TimingSection& section);
std::string tasks_section(const TasksSection& section);
std::string logs_section(const LogsSection& section);
std::string matrix_section(const MatrixSection& section);

// The text of a trace once for each spec of its middle budget, the best eight first; the shade of a
// word says how many units hold it at the end. Empty if no trace is that of the result, or if
// it has no text.
std::string words_block(const ReplayResult& result, const std::vector<ExplorerTrace>& traces);

// A figure with its caption and links to its files in `folder`.
std::string figure_block(const DrawnFigure& drawn, const std::string& folder);

// Pieces of HTML: an entry of a description list (nothing if the text is empty), a link, and a text
// whose line may break after its commas.
std::string description(const std::string& term, const std::string& text);
std::string link_to(const std::string& target, const std::string& text);
std::string breakable(const std::string& text);

// The text of an SVG file made fit for embedding in a page: without XML declaration, with `prefix`
// before all ids so that drawings do not share them, and with a name for screen readers.
std::string inline_svg(std::string_view svg, const std::string& prefix, const std::string& name);

// The page's style sheet and its script, which sorts tables.
extern const char* const report_style;
extern const char* const report_script;

// What a section says of the storage of keys and values: that of the run, and that some specs name
// another.
template <typename Cells>
std::string stored_text(const std::string& storage, const Cells& cells) {
  const auto names = [](const auto& cell) { return cell.cell.spec.storage.has_value(); };
  const std::string own =
      std::ranges::any_of(cells, names) ? ", except where a policy says storage=" : "";
  return "stored as " + storage + own;
}

}  // namespace kv::reports
