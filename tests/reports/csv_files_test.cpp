// Every CSV file that kvcheck writes is one that strict readers accept and that reports/SCHEMA.md
// describes.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>

#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/figures/figure_uniformity.h"
#include "kvcheck/reports/page/report.h"
#include "kvcheck/reports/store/results.h"
#include "kvcheck/reports/tables/export.h"
#include "kvcheck/tests/paths.h"
#include "kvcheck/tests/reports/fake_replay.h"
#include "kvcheck/tests/reports/fake_results.h"

namespace kv::reports {
namespace {

namespace fs = std::filesystem;
using testing::read_text;
using testing::taken;
using testing::TemporaryFolder;
using Fields = std::vector<std::string>;

// Reads the field at `at` by RFC 4180 and moves `at` to the comma or line end after it.
std::string field_at(const std::string& text, std::size_t& at) {
  std::string field;
  if (text[at] != '"') {
    const std::size_t end = text.find_first_of(",\n", at);
    field = text.substr(at, end - at);
    EXPECT_EQ(field.find_first_of("\"\r"), std::string::npos) << field;
    at = end;
    return field;
  }
  for (++at; at < text.size(); ++at) {
    if (text[at] == '"' && text[at + 1] != '"') break;
    if (text[at] == '"') ++at;
    field += text[at];
  }
  ++at;
  EXPECT_TRUE(at < text.size() && (text[at] == ',' || text[at] == '\n')) << field;
  return field;
}

// The lines of a CSV file, each of which must have as many fields as the first.
std::vector<Fields> strict_lines(const std::string& text) {
  std::vector<Fields> lines;
  if (!text.ends_with('\n')) ADD_FAILURE() << "no line end after the last line";
  for (std::size_t at = 0; at < text.size() && text.ends_with('\n');) {
    Fields fields = {field_at(text, at)};
    while (at < text.size() && text[at] == ',') fields.push_back(field_at(text, ++at));
    ++at;
    EXPECT_EQ(fields.size(), lines.empty() ? fields.size() : lines[0].size()) << join(fields, "|");
    lines.push_back(std::move(fields));
  }
  return lines;
}

// The words between backquotes.
Fields names_in(std::string_view text) {
  Fields names;
  const auto parts = split(text, '`');
  for (std::size_t i = 1; i < parts.size(); i += 2) names.emplace_back(parts[i]);
  return names;
}

// The documented header of each file of the section, as a pattern of the header's names, each with
// a comma after it.
std::map<std::string, std::string> documented_files() {
  const std::string page = read_text(KVCHECK_SOURCE_DIR "/reports/SCHEMA.md");
  const std::size_t from = page.find("\n## Other CSV files\n");
  EXPECT_NE(from, std::string::npos);
  std::map<std::string, std::string> files;
  for (const std::string_view line :
       split(std::string_view(page).substr(from, page.find("\n## ", from + 1) - from), '\n')) {
    const auto parts = split(line, '|');
    if (parts.size() != 4 || !parts[1].starts_with(" `")) continue;
    const std::string file = names_in(parts[1])[0];
    std::string pattern;
    for (const std::string& name : names_in(parts[2])) {
      // Of one layer or group are only files of `compare`, never those of a report.
      const bool selected = name == "layer" || name == "group";
      if (file == "texts/MEASURE.csv" && selected) continue;
      const std::size_t range = name.find("_RANGE");
      // The columns of recall and choices are there if the text asks questions, or offers some.
      pattern += range != std::string::npos ? "(" + name.substr(0, range) + "_[0-9]+-[0-9]+,)*"
                 : name == "recall"         ? "(recall,)?"
                 : name == "choice"         ? "(choice,)?"
                 : name == "SCORE_GROUP"    ? "([a-z0-9_]+_[^,]+,)+"
                                            : name + ",";
    }
    files[file] = pattern;
  }
  return files;
}

// "trace-2/cells.csv" as "trace-N/cells.csv", and the files of all measures as one.
std::string documented_name(const std::string& path) {
  std::string name = std::regex_replace(path, std::regex("-[0-9]+/"), "-N/");
  name = std::regex_replace(name, std::regex("/groups-[a-z0-9_]+"), "/groups-SCORE");
  return std::regex_replace(name, std::regex("^texts/[a-z0-9_]+(-windows-[0-9]+)?"),
                            "texts/MEASURE");
}

void write_whole_report(const TemporaryFolder& folder) {
  ReplayResult replay = testing::fake_replay(testing::small_fake());
  for (CellResult& cell : replay.cells) {
    for (const UnitResult& unit : cell.units) {
      cell.bounds.push_back({.layer = unit.layer,
                             .head = unit.head,
                             .heads = 1,
                             .optimum = 0.99,
                             .per_step = 0.995,
                             .greedy = 0.98});
    }
  }
  ResultsWriter writer = taken(ResultsWriter::begin(folder.path("run.db"), "kvcheck replay"));
  ASSERT_TRUE(writer.add(replay));
  replay.trace.name = "another";
  ++replay.trace.checksum;
  ASSERT_TRUE(writer.add(replay));
  ClosedLoopResult evaluation = testing::fake_evaluation(512, true);
  for (ClosedLoopCell& cell : evaluation.cells) {
    cell.retained_mass = 0.75;
    if (cell.targets_after > 0) cell.queries_after = cell.targets_after + 1;
  }
  ASSERT_TRUE(writer.add(evaluation));
  ASSERT_TRUE(writer.add(testing::fake_timing()));
  ASSERT_TRUE(writer.add(testing::fake_tasks()));
  ASSERT_TRUE(writer.finish());
  const KillMatrix matrix = taken(parse_kill_matrix(testing::fake_matrix_json()));
  fs::create_directory(folder.path("logs"));
  {
    std::ofstream log(folder.path("logs") + "/window.csv");
    log << "input_length,nll\n";
    for (int i = 1; i <= 256; ++i) log << i << ",1.5\n";
  }
  ReportExtras extras{.matrix = &matrix, .logs = {taken(read_loss_logs(folder.path("logs")))}};
  const auto done = write_report(folder.path("run.db"), 0, folder.path("out"), extras);
  ASSERT_TRUE(done) << done.error().message;
}

TEST(CsvFiles, OfAReportAreStrictAndDocumented) {
  const TemporaryFolder folder;
  write_whole_report(folder);
  std::map<std::string, std::string> documented = documented_files();
  // These have sections of their own, which SchemaPage tests.
  const std::set<std::string> elsewhere = {"trace-N/summary.csv", "trace-N/cells.csv",
                                           "evaluation-N/cells.csv"};
  std::set<std::string> seen;
  for (const auto& entry : fs::recursive_directory_iterator(folder.path("out"))) {
    if (entry.path().extension() != ".csv") continue;
    const std::string path = entry.path().lexically_relative(folder.path("out")).string();
    SCOPED_TRACE(path);
    const std::vector<Fields> lines = strict_lines(read_text(entry.path().string()));
    ASSERT_GE(lines.size(), 2U);
    const std::string name = documented_name(path);
    seen.insert(name);
    if (elsewhere.contains(name)) continue;
    ASSERT_TRUE(documented.contains(name));
    EXPECT_TRUE(std::regex_match(join(lines[0], ",") + ",", std::regex(documented[name])))
        << join(lines[0], ",") << "\n"
        << documented[name];
  }
  for (const auto& [name, header] : documented) {
    if (name.find('/') == std::string::npos) continue;  // not a part of a report
    EXPECT_TRUE(seen.contains(name)) << name << " is documented but was not written";
  }
}

TEST(CsvFiles, OfUniformityAreStrictAndDocumented) {
  const UniformityPlot plot{.label = "reservoir:budget=2,algorithm=l",
                            .streams = 10,
                            .capacity = 2,
                            .kept = {3, 4, 6, 7},
                            .band = 0.1,
                            .pair_ratio = std::vector<double>(16, 1.0)};
  std::map<std::string, std::string> documented = documented_files();
  for (const Figure& figure : {uniformity_inclusion_figure(plot), uniformity_pairs_figure(plot)}) {
    const std::vector<Fields> lines = strict_lines(figure.csv);
    ASSERT_GE(lines.size(), 2U);
    EXPECT_EQ(lines[1][0], plot.label);
    EXPECT_TRUE(
        std::regex_match(join(lines[0], ",") + ",", std::regex(documented[figure.name + ".csv"])))
        << join(lines[0], ",");
  }
}

TEST(CsvFiles, OfAReplayHaveTheHeadsAfterTheirCell) {
  const ReplayResult result = testing::fake_replay(testing::small_fake());
  const std::vector<Fields> lines = strict_lines(cells_and_heads_csv(result));
  const std::vector<Fields> cells = strict_lines(cells_csv(result));
  const std::vector<Fields> heads = strict_lines(heads_csv(result));
  ASSERT_EQ(lines.size(), cells.size() + heads.size() - 1);
  const std::size_t wide = cells[0].size();
  std::size_t cell = 0;
  std::size_t head = 0;
  for (const Fields& line : lines) {
    ASSERT_EQ(line.size(), wide + 2);
    const Fields shared(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(wide));
    const Fields last(line.end() - 2, line.end());
    if (line[0] != "head") {
      EXPECT_EQ(shared, cells[cell]);
      EXPECT_EQ(last, cell == 0 ? Fields({"layer", "head"}) : Fields({"", ""}));
      ++cell;
      continue;
    }
    ++head;
    EXPECT_EQ(line[2], cells[cell - 1][2]);                     // the spec of its cell
    EXPECT_EQ(last, Fields({heads[head][7], heads[head][8]}));  // layer and head
    EXPECT_EQ(line[7], heads[head][9]);                         // retained mass
    // What the two have in common: the metrics, and the same after the first loss.
    const std::set<std::string> shared_names(heads[0].begin(), heads[0].end());
    for (std::size_t i = 11; i < wide; ++i) {
      if (shared_names.contains(lines[0][i])) continue;
      EXPECT_EQ(line[i], "") << lines[0][i];
    }
  }
}

}  // namespace
}  // namespace kv::reports
