#include "kvcheck/reports/page/report.h"

#include <sys/stat.h>

#include <cstring>
#include <filesystem>
#include <set>
#include <span>
#include <utility>

#include "kvcheck/base/file.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/figures/figure_closed_loop.h"
#include "kvcheck/reports/figures/figure_kills.h"
#include "kvcheck/reports/figures/figure_loss_log.h"
#include "kvcheck/reports/figures/figure_timing.h"
#include "kvcheck/reports/figures/figures.h"
#include "kvcheck/reports/numbers/csv.h"
#include "kvcheck/reports/numbers/escape.h"
#include "kvcheck/reports/page/report_folder.h"
#include "kvcheck/reports/page/report_page.h"
#include "kvcheck/reports/store/results.h"
#include "kvcheck/reports/tables/bounds_table.h"
#include "kvcheck/reports/tables/closed_loop_tables.h"
#include "kvcheck/reports/tables/comparison_table.h"
#include "kvcheck/reports/tables/export.h"
#include "kvcheck/reports/tables/loops_table.h"
#include "kvcheck/reports/tables/summary_table.h"
#include "kvcheck/reports/tables/timing_table.h"

namespace kv::reports {
namespace {

// Where the sections are written, and whether to go on.
struct Target {
  const ReportFolder& folder;
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

std::string dense_csv(const ReplayResult& result) {
  std::string out = "layer,head,first_mass,sinks_mass,recent_mass,entropy\n";
  for (const DenseFacts& head : result.dense) {
    const std::vector<std::string> fields = {std::to_string(head.layer), std::to_string(head.head),
                                             shortest(head.first_mass),  shortest(head.sinks_mass),
                                             shortest(head.recent_mass), shortest(head.entropy)};
    out += csv_line(fields);
  }
  return out;
}

// Only one seed of each spec: with twenty the series would be most of the report's bytes. The
// results file holds them all.
ReplayResult first_seeds(const ReplayResult& result) {
  ReplayResult first = result;
  std::set<std::string> seen;
  std::erase_if(first.cells, [&](const CellResult& cell) {
    return !seen.insert(cell.cell.spec.canonical()).second;
  });
  return first;
}

using NamedTexts = std::vector<std::pair<const char*, std::string>>;

Result<void> write_texts(const NamedTexts& files, const std::string& folder) {
  for (const auto& [name, text] : files) {
    if (const auto done = write_file(folder + "/" + name, text); !done) return done.error();
  }
  return {};
}

NamedTexts texts_of(const ReplayResult& result) {
  const Table summary = summary_table(result);
  NamedTexts files = {
      {"summary.csv", to_csv(summary)}, {"summary.md", to_markdown(summary)},
      {"cells.csv", cells_csv(result)}, {"cells.jsonl", json_lines(result, false)},
      {"heads.csv", heads_csv(result)}, {"series.csv", series_csv(first_seeds(result))},
      {"dense.csv", dense_csv(result)}};
  if (has_bounds(result)) files.emplace_back("bounds.csv", to_csv(bounds_table(result)));
  return files;
}

NamedTexts texts_of(const ClosedLoopResult& result) {
  const Table perplexity = perplexity_table(result);
  NamedTexts files = {{"perplexities.csv", to_csv(perplexity)},
                      {"perplexity.md", to_markdown(perplexity)},
                      {"cells.csv", closed_loop_csv(std::span(&result, 1))},
                      {"cells.jsonl", closed_loop_json(result)},
                      {"series.csv", closed_loop_series_csv(result)}};
  if (has_open_loop(result)) {
    const Table loops = loops_table(result);
    files.emplace_back("loops.csv", to_csv(loops));
    files.emplace_back("loops.md", to_markdown(loops) + "\n" + loops_words(result) + "\n");
  }
  if (!result.asks()) return files;
  const Table recall = recall_table(result);
  files.emplace_back("recalls.csv", to_csv(recall));
  files.emplace_back("recall.md", to_markdown(recall));
  return files;
}

NamedTexts texts_of(const TimingResult& result) {
  const Table table = timing_table(result);
  return {{"timings.csv", to_csv(table)}, {"timings.md", to_markdown(table)}};
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
Result<std::vector<DrawnFigure>> write_section(const NamedTexts& texts,
                                               std::vector<Figure> figures,
                                               const Target& place,
                                               const std::string& name) {
  const std::string folder = place.path() + "/" + name;
  if (::mkdir(folder.c_str(), 0755) != 0) return system_error("create", folder);
  if (const auto done = write_texts(texts, folder); !done) return done.error();
  std::vector<DrawnFigure> drawn;
  for (Figure& figure : figures) {
    auto one = draw_into(std::move(figure), place, folder);
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
  const NamedTexts files = {
      {"comparison.csv", to_csv(section.table)},
      {"comparison.md", to_markdown(section.table) + "\n" + section.words + "\n"}};
  if (const auto done = write_section(files, {}, place, section.folder); !done) return done.error();
  return section;
}

Result<LogsSection> write_logs(const std::vector<LossLogs>& models, const Target& place) {
  LogsSection section{.models = models, .folder = "logs", .figure = {}};
  if (models.empty()) return section;
  const Table table = loss_log_table(models);
  const NamedTexts files = {{"perplexities.csv", to_csv(table)},
                            {"perplexities.md", to_markdown(table)}};
  auto drawn = write_section(files, {loss_log_figure(models)}, place, section.folder);
  if (!drawn) return drawn.error();
  section.figure = std::move(drawn->front());
  return section;
}

Result<MatrixSection> write_matrix(const KillMatrix& matrix, const Target& place) {
  MatrixSection section{.matrix = &matrix, .folder = "laws", .figure = {}};
  const std::string folder = place.path() + "/" + section.folder;
  if (::mkdir(folder.c_str(), 0755) != 0) return system_error("create", folder);
  auto drawn = draw_into(kill_matrix_figure(matrix), place, folder);
  if (!drawn) return drawn.error();
  section.figure = *std::move(drawn);
  const std::string drawing = section.figure.svg.empty() ? "" : "kill-matrix.svg";
  const NamedTexts files = {{"mutants.csv", to_csv(mutants_table(matrix))},
                            {"laws.csv", to_csv(killing_laws_table(matrix))},
                            {"kill-matrix.md", kill_matrix_page(matrix, drawing)}};
  if (const auto done = write_texts(files, folder); !done) return done.error();
  return section;
}

// The sections of one run, added to those of the runs before it.
Result<void> add_run(const StoredRun& run, const Target& place, ReportSections& page) {
  page.runs.push_back(run.summary);
  for (const ReplayResult& trace : run.traces) {
    const std::string name = "trace-" + std::to_string(page.traces.size() + 1);
    auto drawn = write_section(texts_of(trace), figures_of(trace), place, name);
    if (!drawn) return drawn.error();
    page.traces.push_back({.result = &trace, .folder = name, .figures = *std::move(drawn)});
  }
  for (const ClosedLoopResult& evaluation : run.evaluations) {
    const std::string name = "evaluation-" + std::to_string(page.evaluations.size() + 1);
    auto drawn = write_section(texts_of(evaluation), closed_loop_figures(evaluation), place, name);
    if (!drawn) return drawn.error();
    page.evaluations.push_back(
        {.result = &evaluation, .folder = name, .figures = *std::move(drawn)});
  }
  for (const TimingResult& timing : run.timings) {
    const std::string name = "timing-" + std::to_string(page.timings.size() + 1);
    std::vector<Figure> figures = {timing_figure(timing)};
    if (figures.front().body.empty()) figures.clear();
    auto drawn = write_section(texts_of(timing), std::move(figures), place, name);
    if (!drawn) return drawn.error();
    page.timings.push_back({.result = &timing, .folder = name, .figures = *std::move(drawn)});
  }
  return {};
}

Result<void> fill(const std::vector<StoredRun>& runs,
                  const ReportExtras& extras,
                  const Target& place) {
  ReportSections page;
  for (const StoredRun& run : runs) {
    if (auto added = add_run(run, place, page); !added) return added;
  }
  auto comparison = write_comparison(extras.compared.empty() ? runs : extras.compared, place);
  if (!comparison) return comparison.error();
  page.comparison = *std::move(comparison);
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

Result<std::vector<StoredRun>> runs_to_show(const std::string& path, std::int64_t id) {
  if (id == 0) return read_newest_runs(path);
  auto run = read_run(path, id);
  if (!run) return run.error();
  std::vector<StoredRun> runs;
  runs.push_back(*std::move(run));
  return runs;
}

}  // namespace

Result<void> write_report(const std::string& results_path,
                          std::int64_t run,
                          const std::string& folder,
                          const ReportExtras& extras) {
  const auto stored = runs_to_show(results_path, run);
  if (!stored) return stored.error();
  const StoredRun& first = stored->front();
  if (first.traces.empty() && first.evaluations.empty() && first.timings.empty()) {
    return Error{Error::Kind::not_found,
                 "run " + std::to_string(first.summary.id) + " of '" + results_path +
                     "' holds no trace: it was stopped before one was finished"};
  }
  auto created = ReportFolder::create(folder);
  if (!created) return created.error();
  ReportFolder place = std::move(*created);
  if (const auto done = fill(*stored, extras, {place, extras.proceed}); !done) {
    return Error{done.error().kind, place.about_target(done.error().message)};
  }
  return place.commit();
}

}  // namespace kv::reports
