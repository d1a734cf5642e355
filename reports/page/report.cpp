#include "kvcheck/reports/page/report.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <span>
#include <utility>

#include "kvcheck/base/file.h"
#include "kvcheck/reports/compare/compare_tables.h"
#include "kvcheck/reports/explorer/explorer.h"
#include "kvcheck/reports/figures/figure_closed_loop.h"
#include "kvcheck/reports/figures/figure_kills.h"
#include "kvcheck/reports/figures/figure_loss_log.h"
#include "kvcheck/reports/figures/figure_tasks.h"
#include "kvcheck/reports/figures/figure_timing.h"
#include "kvcheck/reports/figures/figures.h"
#include "kvcheck/reports/numbers/escape.h"
#include "kvcheck/reports/page/report_explorer.h"
#include "kvcheck/reports/page/report_folder.h"
#include "kvcheck/reports/page/report_page.h"
#include "kvcheck/reports/page/section_files.h"
#include "kvcheck/reports/store/results.h"
#include "kvcheck/reports/tables/comparison_table.h"

namespace kv::reports {
namespace {

// Where the sections are written, and whether to go on.
struct Target {
  const NewFolder& folder;
  const std::function<bool()>& proceed;

  [[nodiscard]] const std::string& path() const { return folder.path(); }

  [[nodiscard]] Result<void> check_proceed() const {
    if (!proceed || proceed()) return {};
    return io_error("interrupted; the unfinished report was removed");
  }
};

Result<std::string> read_text(const std::string& path) {
  const auto file = MappedFile::open(path);
  if (!file) return file.error();
  const auto bytes = file.value().bytes();
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

Result<void> write_texts(const SectionFiles& files, const std::string& folder) {
  for (const auto& [name, text] : files) {
    if (const auto done = write_file(folder + "/" + name, text); !done) return done.error();
  }
  return {};
}

// gnuplot titles every drawing "Gnuplot"; this writes the figure's own title into the file.
Result<std::string> titled_svg(const Figure& figure, const std::string& path) {
  auto svg = read_text(path);
  if (!svg) return svg;
  std::string text = std::move(*svg);
  constexpr std::string_view theirs = "<title>Gnuplot</title>";
  if (const std::size_t at = text.find(theirs); at != std::string::npos) {
    text.replace(at, theirs.size(), "<title>" + html_escaped(figure.title) + "</title>");
  }
  // What has no name of its own would show gnuplot's, "gnuplot_plot_3b", under the pointer.
  constexpr std::string_view unnamed = "<title>gnuplot_plot_";
  for (std::size_t at = 0; (at = text.find(unnamed, at)) != std::string::npos;) {
    text.erase(at, text.find("</title>", at) + std::string_view("</title>").size() - at);
  }
  if (const auto done = write_file(path, text); !done) return done.error();
  return text;
}

// Draws a figure. If gnuplot cannot draw it, the page shows the reason, and the report is written
// nevertheless. If the disk is full, there is no report.
Result<DrawnFigure> draw_into(Figure figure, const Target& place, const std::string& folder) {
  if (const auto on = place.check_proceed(); !on) return on.error();
  const std::string base = folder + "/" + figure.name;
  if (const auto done = write_file(base + ".csv", figure.csv); !done) return done.error();
  DrawnFigure drawn{.figure = {}, .svg = {}, .problem = {}};
  if (const auto done = draw(figure, folder); !done) {
    if (done.error().kind == Error::Kind::io) return done.error();
    drawn.problem = place.folder.about_target(done.error().message);
  } else {
    auto svg = titled_svg(figure, base + ".svg");
    if (!svg) return svg.error();
    drawn.svg = std::move(*svg);
  }
  drawn.figure = std::move(figure);
  return drawn;
}

// Writes the tables and figures of one section into a folder of its own and returns the drawn
// figures.
Result<std::vector<DrawnFigure>> write_section(const SectionFiles& texts,
                                               std::vector<Figure> figures,
                                               const Target& place,
                                               const std::string& name) {
  const auto folder = add_section(place.folder, name);
  if (!folder) return folder.error();
  if (const auto done = write_texts(texts, *folder); !done) return done.error();
  std::vector<DrawnFigure> drawn;
  for (Figure& figure : figures) {
    auto one = draw_into(std::move(figure), place, *folder);
    if (!one) return one.error();
    drawn.push_back(std::move(*one));
  }
  return drawn;
}

Result<ComparisonSection> write_comparison(const std::vector<StoredRun>& runs,
                                           const Target& place) {
  const ComparedRuns compared = runs_to_compare(runs);
  if (compared.open == nullptr) return ComparisonSection();
  ComparisonSection section{.table = comparison_table(compared),
                            .words = comparison_words(compared),
                            .folder = "comparison"};
  const SectionFiles files = {
      {"comparison.csv", to_csv(section.table)},
      {"comparison.md", to_markdown(section.table) + "\n" + section.words + "\n"}};
  if (const auto done = write_section(files, {}, place, section.folder); !done) return done.error();
  return section;
}

Result<TextsSection> write_over_texts(const std::vector<StoredRun>& runs, const Target& place) {
  TextsSection section = over_texts(runs, "texts");
  if (section.comparisons.empty()) return section;
  SectionFiles files;
  for (const TextsComparison& one : section.comparisons) {
    files.emplace_back(one.file(), to_csv(table_of(one.comparison)));
  }
  if (const auto done = write_section(files, {}, place, section.folder); !done) return done.error();
  return section;
}

Result<LogsSection> write_logs(const std::vector<LossLogs>& models, const Target& place) {
  LogsSection section{.models = models, .folder = "logs", .figure = {}};
  if (models.empty()) return section;
  const Table table = loss_log_table(models);
  const SectionFiles files = {{"perplexities.csv", to_csv(table)},
                              {"perplexities.md", to_markdown(table)}};
  auto drawn = write_section(files, {loss_log_figure(models)}, place, section.folder);
  if (!drawn) return drawn.error();
  section.figure = std::move(drawn->front());
  return section;
}

Result<MatrixSection> write_matrix(const KillMatrix& matrix, const Target& place) {
  MatrixSection section{.matrix = &matrix, .folder = "laws", .figure = {}};
  const auto folder = add_section(place.folder, section.folder);
  if (!folder) return folder.error();
  auto drawn = draw_into(kill_matrix_figure(matrix), place, *folder);
  if (!drawn) return drawn.error();
  section.figure = *std::move(drawn);
  const std::string drawing = section.figure.svg.empty() ? "" : "kill-matrix.svg";
  const SectionFiles files = {{"mutants.csv", to_csv(mutants_table(matrix))},
                              {"laws.csv", to_csv(killing_laws_table(matrix))},
                              {"kill-matrix.md", kill_matrix_page(matrix, drawing)}};
  if (const auto done = write_texts(files, *folder); !done) return done.error();
  return section;
}

// Writes the page that steps through the streams of a run, and returns its name; empty if the run
// has none to step through, or too much.
Result<std::string> write_explorer(const StoredRun& run,
                                   const std::vector<ExplorerTrace>& traces,
                                   const Target& place) {
  const auto html = explorer_of_report(run, traces);
  if (!html) return html.error();
  if (html->empty()) return std::string();
  std::string name = "explore-" + std::to_string(run.summary.id) + ".html";
  if (auto done = write_file(place.path() + "/" + name, *html); !done) return done.error();
  return name;
}

// Those of a list that have sections beside the `had` sections before them; the page counts others.
template <typename Outcome>
std::span<const Outcome> with_sections(const std::vector<Outcome>& all,
                                       std::size_t had,
                                       std::size_t most,
                                       ReportSections& page) {
  const std::size_t count = std::min(all.size(), most - std::min(had, most));
  page.left_out += all.size() - count;
  return std::span(all).first(count);
}

// The sections of one run, added to those of the runs before it.
Result<void> add_run(const StoredRun& run,
                     const ReportExtras& extras,
                     const Target& place,
                     ReportSections& page) {
  std::vector<ExplorerTrace> traces;
  if (extras.explored && !run.traces.empty()) {
    auto explored = extras.explored(run);
    if (!explored) return explored.error();
    traces = *std::move(explored);
  }
  page.runs.push_back(run.summary);
  const std::size_t first = page.traces.size();
  const auto shown = with_sections(run.traces, first, extras.sections, page);
  for (const ReplayResult& trace : shown) {
    const std::string name = "trace-" + std::to_string(page.traces.size() + 1);
    auto drawn = write_section(files_of(trace), figures_of(trace), place, name);
    if (!drawn) return drawn.error();
    page.traces.push_back({.result = &trace,
                           .folder = name,
                           .figures = *std::move(drawn),
                           .words = words_block(trace, traces)});
  }
  const auto explorer = write_explorer(run, traces, place);
  if (!explorer) return explorer.error();
  for (std::size_t i = 0; i < shown.size() && !explorer->empty(); ++i) {
    if (!has_residency(run.traces[i])) continue;
    page.traces[first + i].explorer = *explorer + "#trace=" + std::to_string(i);
  }
  for (const ClosedLoopResult& evaluation :
       with_sections(run.evaluations, page.evaluations.size(), extras.sections, page)) {
    const std::string name = "evaluation-" + std::to_string(page.evaluations.size() + 1);
    auto drawn = write_section(files_of(evaluation), closed_loop_figures(evaluation), place, name);
    if (!drawn) return drawn.error();
    page.evaluations.push_back(
        {.result = &evaluation, .folder = name, .figures = *std::move(drawn)});
  }
  for (const TimingResult& timing : run.timings) {
    const std::string name = "timing-" + std::to_string(page.timings.size() + 1);
    std::vector<Figure> figures = {timing_figure(timing)};
    if (figures.front().body.empty()) figures.clear();
    auto drawn = write_section(files_of(timing), std::move(figures), place, name);
    if (!drawn) return drawn.error();
    page.timings.push_back({.result = &timing, .folder = name, .figures = *std::move(drawn)});
  }
  for (const TaskResult& task : run.tasks) {
    const std::string name = "tasks-" + std::to_string(page.tasks.size() + 1);
    auto drawn = write_section(files_of(task), task_figures(task), place, name);
    if (!drawn) return drawn.error();
    page.tasks.push_back({.result = &task, .folder = name, .figures = *std::move(drawn)});
  }
  return {};
}

Result<void> fill(const std::vector<StoredRun>& runs,
                  const ReportExtras& extras,
                  const Target& place) {
  ReportSections page;
  for (const StoredRun& run : runs) {
    if (auto added = add_run(run, extras, place, page); !added) return added;
  }
  auto comparison = write_comparison(extras.compared.empty() ? runs : extras.compared, place);
  if (!comparison) return comparison.error();
  page.comparison = *std::move(comparison);
  auto texts = write_over_texts(runs, place);
  if (!texts) return texts.error();
  page.texts = *std::move(texts);
  auto logs = write_logs(extras.logs, place);
  if (!logs) return logs.error();
  page.logs = *std::move(logs);
  if (extras.matrix != nullptr) {
    auto section = write_matrix(*extras.matrix, place);
    if (!section) return section.error();
    page.matrix = *std::move(section);
  }
  if (const auto on = place.check_proceed(); !on) return on.error();
  return write_file(place.path() + "/index.html", report_page(page));
}

}  // namespace

Result<std::vector<RunSummary>> write_report(const std::string& results_path,
                                             std::int64_t run,
                                             const std::string& folder,
                                             const ReportExtras& extras) {
  const auto stored = runs_to_show(results_path, run);
  if (!stored) return stored.error();
  const StoredRun& first = stored->front();
  if (first.traces.empty() && first.evaluations.empty() && first.timings.empty() &&
      first.tasks.empty()) {
    return Error{Error::Kind::not_found,
                 "run " + std::to_string(first.summary.id) + " of '" + results_path +
                     "' holds no results: it was stopped before any were finished"};
  }
  auto place = new_report_folder(folder);
  if (!place) return place.error();
  if (const auto done = fill(*stored, extras, {*place, extras.proceed}); !done) {
    return Error{done.error().kind, place->about_target(done.error().message)};
  }
  if (auto done = place->replace(); !done) return done.error();
  return summaries_of(*stored);
}

}  // namespace kv::reports
