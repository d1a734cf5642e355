#include "kvcheck/reports/tables/export.h"

#include <algorithm>
#include <boost/json.hpp>

#include "kvcheck/reports/numbers/csv.h"
#include "kvcheck/reports/numbers/summary.h"
#include "kvcheck/reports/store/results.h"
#include "kvcheck/tests/reports/fake_replay.h"

namespace kv::reports {
namespace {

using testing::fake_replay;
using testing::small_fake;
using testing::taken;
using testing::TemporaryFolder;

std::vector<boost::json::object> objects_of(const std::string& lines) {
  std::vector<boost::json::object> objects;
  for (std::size_t begin = 0; begin < lines.size();) {
    const std::size_t end = lines.find('\n', begin);
    objects.push_back(boost::json::parse(lines.substr(begin, end - begin)).as_object());
    begin = end + 1;
  }
  return objects;
}

// Two units and two heads with numbers that are easy to average by hand.
ReplayResult tiny() {
  ReplayResult result;
  result.trace.name = "t,\"x\"";
  result.trace.tokens = 10;
  result.top_k = 4;
  result.series_width = 5;
  CellResult cell;
  cell.cell = {.spec = taken(parse_spec("window", {.budget = 4})), .seed = 18446744073709551615U};
  cell.heads = {{0, 0, {0.5, 1.0, 0.25, not_measured}}, {0, 1, {0.75, 2.0, 0.75, not_measured}}};
  UnitResult unit{.layer = 0,
                  .head = 0,
                  .stored_mean = 3,
                  .stored_peak = 5,
                  .visible_mean = 2,
                  .visible_peak = 4,
                  .kept_at_end = 4,
                  .evictions = 6,
                  .trims = 6,
                  .moved = 12,
                  .lifetime_mean = 4};
  cell.units = {unit, unit};
  cell.units[1].stored_mean = 4;
  cell.units[1].stored_peak = 7;
  cell.units[1].evictions = 2;
  cell.units[1].lifetime_mean = 8;
  cell.bytes_per_row = 16;
  cell.series = {{0, 1, 0, 1, not_measured, 2, 2, 2}, {5, 0.25, 1, 0.5, not_measured, 4, 4, 4}};
  result.cells = {cell};
  return result;
}

TEST(JsonLines, AveragesMetricsOverHeadsAndCountsOverUnits) {
  const auto objects = objects_of(json_lines(tiny(), false));
  ASSERT_EQ(objects.size(), 1U);
  const boost::json::object& cell = objects[0];
  EXPECT_EQ(cell.at("type"), "cell");
  EXPECT_EQ(cell.at("trace"), "t,\"x\"");
  EXPECT_EQ(cell.at("spec").as_string(), tiny().cells[0].cell.spec.canonical());
  EXPECT_EQ(cell.at("policy"), "window");
  EXPECT_EQ(cell.at("budget"), 4);
  EXPECT_EQ(cell.at("seed").as_uint64(), 18446744073709551615U);
  EXPECT_EQ(cell.at("loop"), "open");
  EXPECT_EQ(cell.at("retained_mass").to_number<double>(), 0.625);
  EXPECT_EQ(cell.at("kl_to_dense").to_number<double>(), 1.5);
  EXPECT_EQ(cell.at("topk_overlap").to_number<double>(), 0.5);
  EXPECT_TRUE(cell.at("output_error").is_null());
  EXPECT_EQ(cell.at("stored_mean").to_number<double>(), 3.5);
  EXPECT_EQ(cell.at("stored_peak"), 7);
  EXPECT_EQ(cell.at("evictions"), 8);
  EXPECT_EQ(cell.at("lifetime_mean").to_number<double>(), 5);  // (6 * 4 + 2 * 8) / 8
  EXPECT_EQ(cell.at("moved"), 24);
  EXPECT_EQ(cell.at("bytes_peak"), (5 + 7) * 16);
}

TEST(JsonLines, WeighsTheBoundsOfPagesOfLayersThatSelect) {
  ReplayResult result = tiny();
  CellResult& cell = result.cells[0];
  cell.cell.spec = parse_spec("dense;visibility=top-pages:4/2/1").value();
  for (std::size_t i = 0; i < cell.units.size(); ++i) cell.units[i].layer = i;
  // The second unit's 7 rows are 4 pages.
  EXPECT_EQ(objects_of(json_lines(result, false))[0].at("bytes_peak"), (5 + 7 + 4) * 16);
}

TEST(JsonLines, HasOneLinePerHeadAfterItsCell) {
  const auto objects = objects_of(json_lines(tiny(), true));
  ASSERT_EQ(objects.size(), 3U);
  EXPECT_EQ(objects[2].at("type"), "head");
  EXPECT_EQ(objects[2].at("layer"), 0);
  EXPECT_EQ(objects[2].at("head"), 1);
  EXPECT_EQ(objects[2].at("retained_mass").to_number<double>(), 0.75);
}

TEST(JsonLines, GivesADensePolicyNoBudget) {
  ReplayResult result = tiny();
  result.cells[0].cell.spec = taken(parse_spec("dense"));
  EXPECT_TRUE(objects_of(json_lines(result, false))[0].at("budget").is_null());
}

TEST(Csv, QuotesFieldsThatHoldCommasQuotesOrLineBreaks) {
  EXPECT_EQ(csv_field("plain"), "plain");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("say \"x\""), "\"say \"\"x\"\"\"");
  EXPECT_EQ(csv_field("two\nlines"), "\"two\nlines\"");
}

TEST(Csv, HasAHeaderAndOneLinePerCellHeadAndPoint) {
  const std::string cells = cells_csv(tiny());
  EXPECT_TRUE(cells.starts_with("type,trace,spec,policy,budget,seed,loop,retained_mass,")) << cells;
  EXPECT_NE(cells.find("\ncell,\"t,\"\"x\"\"\","), std::string::npos) << cells;
  EXPECT_NE(cells.find(",0.625,1.5,0.5,,"), std::string::npos) << cells;
  const auto lines = [](const std::string& text) { return std::ranges::count(text, '\n'); };
  EXPECT_EQ(lines(cells), 2);
  EXPECT_EQ(lines(heads_csv(tiny())), 3);
  EXPECT_EQ(lines(series_csv(tiny())), 3);
  EXPECT_EQ(lines(cells_csv({})), 1);
}

TEST(Exports, AreTheSameBeforeAndAfterTheResultsFile) {
  const TemporaryFolder folder;
  const ReplayResult result = fake_replay(small_fake());
  {
    auto writer = taken(ResultsWriter::begin(folder.path("run.db"), "x"));
    ASSERT_TRUE(writer.add(result));
    ASSERT_TRUE(writer.finish());
  }
  const StoredRun run = taken(read_run(folder.path("run.db")));
  ASSERT_EQ(run.traces.size(), 1U);
  EXPECT_EQ(json_lines(result, true), json_lines(run.traces[0], true));
  EXPECT_EQ(cells_csv(result), cells_csv(run.traces[0]));
  EXPECT_EQ(heads_csv(result), heads_csv(run.traces[0]));
  EXPECT_EQ(series_csv(result), series_csv(run.traces[0]));
}

TEST(Summary, AveragesSeedsBeforeItTakesTheIntervalOverHeads) {
  ReplayResult result = tiny();
  result.cells.push_back(result.cells[0]);
  result.cells[1].cell.seed = 2;
  result.cells[1].heads[0].metrics.retained_mass = 0.7;
  result.cells[1].heads[1].metrics.retained_mass = 0.85;
  const auto summaries = summarise(result);
  ASSERT_EQ(summaries.size(), 1U);
  EXPECT_EQ(summaries[0].cells, (std::vector<std::size_t>{0, 1}));
  // Heads: 0.6 and 0.8; s = 0.141421, s / sqrt(2) = 0.1, t(0.975, 1) = 12.706205.
  EXPECT_NEAR(summaries[0].retained_mass.mean, 0.7, 1e-12);
  EXPECT_NEAR(summaries[0].retained_mass.half_width(), 1.2706205, 1e-6);
}

}  // namespace
}  // namespace kv::reports
