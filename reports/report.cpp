#include "reports/report.h"

#include <sys/stat.h>

#include <cstring>
#include <filesystem>
#include <set>
#include <utility>

#include "base/file.h"
#include "base/words.h"
#include "reports/csv.h"
#include "reports/escape.h"
#include "reports/export.h"
#include "reports/figures.h"
#include "reports/report_folder.h"
#include "reports/report_page.h"

namespace kv {
namespace {

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

// One seed of each spec: with twenty the series would be most of the report's bytes. The results
// file holds them all.
ReplayResult first_seeds(const ReplayResult& result) {
  ReplayResult first = result;
  std::set<std::string> seen;
  std::erase_if(first.cells, [&](const CellResult& cell) {
    return !seen.insert(cell.cell.spec.canonical()).second;
  });
  return first;
}

Result<void> write_tables(const ReplayResult& result, const std::string& folder) {
  const Table summary = summary_table(result);
  const std::vector<std::pair<const char*, std::string>> files = {
      {"summary.csv", to_csv(summary)}, {"summary.md", to_markdown(summary)},
      {"cells.csv", cells_csv(result)}, {"cells.jsonl", json_lines(result, false)},
      {"heads.csv", heads_csv(result)}, {"series.csv", series_csv(first_seeds(result))},
      {"dense.csv", dense_csv(result)}};
  for (const auto& [name, text] : files) {
    if (const auto done = write_file(folder + "/" + name, text); !done) return done.error();
  }
  return {};
}

// A drawing's own name for itself is gnuplot's; readers of the file get the figure's.
Result<std::string> titled_svg(const Figure& figure, const std::string& path) {
  auto svg = read_text(path);
  if (!svg) return svg;
  std::string text = std::move(*svg);
  constexpr std::string_view theirs = "<title>Gnuplot</title>";
  if (const std::size_t at = text.find(theirs); at != std::string::npos) {
    text.replace(at, theirs.size(), "<title>" + html_escaped(figure.title) + "</title>");
  }
  if (const auto done = write_file(path, text); !done) return done.error();
  return text;
}

// Draws what can be drawn; a figure that cannot be says why, and the report goes on.
Result<DrawnFigure> draw_into(Figure figure, const ReportFolder& place, const std::string& folder) {
  const std::string base = folder + "/" + figure.name;
  if (const auto done = write_file(base + ".csv", figure.csv); !done) return done.error();
  DrawnFigure drawn{.figure = {}, .svg = {}, .problem = {}};
  if (const auto done = draw(figure, folder); !done) {
    drawn.problem = place.about_target(done.error().message);
  } else {
    auto svg = titled_svg(figure, base + ".svg");
    if (!svg) return svg.error();
    drawn.svg = std::move(*svg);
  }
  drawn.figure = std::move(figure);
  return drawn;
}

Result<TraceSection> write_section(const ReplayResult& result,
                                   const ReportFolder& place,
                                   const std::string& name) {
  TraceSection section{.result = &result, .folder = name, .figures = {}};
  const std::string folder = place.path() + "/" + name;
  if (::mkdir(folder.c_str(), 0755) != 0) return system_error("create", folder);
  if (const auto done = write_tables(result, folder); !done) return done.error();
  for (Figure& figure : figures_of(result)) {
    auto drawn = draw_into(std::move(figure), place, folder);
    if (!drawn) return drawn.error();
    section.figures.push_back(std::move(*drawn));
  }
  return section;
}

Result<MatrixSection> write_matrix(const KillMatrix& matrix, const ReportFolder& place) {
  MatrixSection section{.matrix = &matrix, .folder = "laws", .figure = {}};
  const std::string folder = place.path() + "/" + section.folder;
  if (::mkdir(folder.c_str(), 0755) != 0) return system_error("create", folder);
  auto drawn = draw_into(kill_matrix_figure(matrix), place, folder);
  if (!drawn) return drawn.error();
  section.figure = *std::move(drawn);
  const std::string drawing = section.figure.svg.empty() ? "" : "kill-matrix.svg";
  const std::vector<std::pair<const char*, std::string>> files = {
      {"mutants.csv", to_csv(mutants_table(matrix))},
      {"laws.csv", to_csv(killing_laws_table(matrix))},
      {"kill-matrix.md", kill_matrix_page(matrix, drawing)}};
  for (const auto& [name, text] : files) {
    if (const auto done = write_file(folder + "/" + name, text); !done) return done.error();
  }
  return section;
}

Result<void> fill(const StoredRun& run, const KillMatrix* matrix, const ReportFolder& place) {
  std::vector<TraceSection> sections;
  for (const ReplayResult& trace : run.traces) {
    const std::string name = "trace-" + std::to_string(sections.size() + 1);
    auto section = write_section(trace, place, name);
    if (!section) return section.error();
    sections.push_back(std::move(*section));
  }
  MatrixSection laws;
  if (matrix != nullptr) {
    auto section = write_matrix(*matrix, place);
    if (!section) return section.error();
    laws = *std::move(section);
  }
  return write_file(place.path() + "/index.html", report_page(run.summary, sections, laws));
}

}  // namespace

Result<void> write_report(const std::string& results_path,
                          std::int64_t run,
                          const std::string& folder,
                          const KillMatrix* matrix) {
  const auto stored = read_run(results_path, run);
  if (!stored) return stored.error();
  if (stored.value().traces.empty()) {
    return Error{Error::Kind::not_found,
                 "run " + std::to_string(stored.value().summary.id) + " of '" + results_path +
                     "' holds no trace: it was stopped before one was finished"};
  }
  auto created = ReportFolder::create(folder);
  if (!created) return created.error();
  ReportFolder place = std::move(*created);
  if (const auto done = fill(*stored, matrix, place); !done) {
    return Error{done.error().kind, place.about_target(done.error().message)};
  }
  return place.commit();
}

}  // namespace kv
