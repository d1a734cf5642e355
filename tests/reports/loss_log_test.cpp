// Logs of other programs, as tables and as figures.
#include <cmath>
#include <filesystem>
#include <fstream>

#include "kvcheck/base/text/text.h"
#include "kvcheck/policies/registry/registry.h"
#include "kvcheck/reports/figures/figure_loss_log.h"
#include "kvcheck/reports/page/report.h"
#include "kvcheck/reports/plot/position_plot.h"
#include "kvcheck/reports/store/results.h"
#include "kvcheck/tests/model/small_models.h"
#include "kvcheck/tests/reports/fake_replay.h"

namespace kv::reports {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::read_text;
using testing::taken;
using testing::TemporaryFolder;

// Targets 0 to count - 1, each with this loss.
std::string log_text(std::size_t count, double nats) {
  std::string text = "input_length,nll\n";
  for (std::size_t i = 1; i <= count; ++i) {
    text += std::to_string(i) + "," + shortest(nats) + "\n";
  }
  return text;
}

void write_log(const std::string& path, const std::string& text) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path) << text;
}

std::string error_of(std::string_view csv) {
  const auto read = parse_loss_log(csv);
  return read ? "no error" : read.error().message;
}

TEST(LossLog, FindsItsColumnsWhereverTheyStand) {
  const auto series = taken(parse_loss_log("ppl,nll,input_length\r\n1,0.5,1\r\ninf,2.25,3\r\n\n"));
  EXPECT_THAT(series, ElementsAre(LossPoint{.first = 0, .targets = 1, .nats = 0.5},
                                  LossPoint{.first = 2, .targets = 1, .nats = 2.25}));
}

TEST(LossLog, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(error_of("input_length,ppl\n1,2\n"),
            "line 1: no column 'nll'; a log's header names input_length and nll");
  EXPECT_THAT(error_of(""), HasSubstr("no column 'input_length'"));
  EXPECT_THAT(error_of("input_length,nll\n"), HasSubstr("no targets"));
  EXPECT_EQ(error_of("input_length,x,nll\n1,2\n"),
            "line 2: 2 fields; expected 3, as the header names");
  EXPECT_EQ(error_of("input_length,nll\n1,2,3\n"),
            "line 2: 3 fields; expected 2, as the header names");
  EXPECT_THAT(error_of("input_length,nll\n1,1\n0,1\n"),
              AllOf(HasSubstr("line 3"), HasSubstr("input_length"), HasSubstr("'0'")));
  EXPECT_EQ(error_of("input_length,nll\n2,1\n2,1\n"),
            "line 3: input_length 2 after 2; expected a larger one");
  for (const std::string wrong : {"nan", "inf", "-1", "", "1e999", "701", "many"}) {
    EXPECT_THAT(error_of("input_length,nll\n1," + wrong + "\n"),
                AllOf(HasSubstr("line 2"), HasSubstr("nll")))
        << wrong;
  }
}

TEST(LossLog, AFolderIsAModel) {
  const TemporaryFolder folder;
  write_log(folder.path("big/windowed.csv"), log_text(3, 1));
  write_log(folder.path("big/dense.csv"), log_text(2, 1));
  write_log(folder.path("big/LICENSE"), "no log");
  const LossLogs model = taken(read_loss_logs(folder.path("big/")));
  EXPECT_EQ(model.name, "big");
  ASSERT_EQ(model.logs.size(), 2U);
  EXPECT_EQ(model.logs[0].label, "dense");
  EXPECT_EQ(model.logs[1].length(), 3U);

  const auto absent = read_loss_logs(folder.path("none"));
  ASSERT_FALSE(absent);
  EXPECT_THAT(absent.error().message, HasSubstr(folder.path("none")));
  write_log(folder.path("empty/notes.txt"), "");
  const auto empty = read_loss_logs(folder.path("empty"));
  ASSERT_FALSE(empty);
  EXPECT_THAT(empty.error().message, HasSubstr("holds no log"));
  const auto above = read_loss_logs(folder.path(""));
  ASSERT_FALSE(above);
  EXPECT_THAT(above.error().message, HasSubstr("there are some in '" + folder.path("big") + "'"));
  write_log(folder.path("big/broken.csv"), "input_length,nll\n1,x\n");
  const auto broken = read_loss_logs(folder.path("big"));
  ASSERT_FALSE(broken);
  EXPECT_THAT(broken.error().message, AllOf(HasSubstr("big/broken.csv"), HasSubstr("line 2")));
}

TEST(LossLog, TableHasARangeForEveryDoubling) {
  LossLogs model{.name = "big", .logs = {}};
  model.logs.push_back({.label = "long", .series = taken(parse_loss_log(log_text(2048, 0)))});
  model.logs.push_back({.label = "short", .series = taken(parse_loss_log(log_text(8, 1)))});
  for (std::size_t i = 1024; i < 2048; ++i) model.logs[0].series[i].nats = 2;
  const Table table = loss_log_table(std::span(&model, 1));
  std::vector<std::string> titles;
  for (const Column& column : table.columns) titles.push_back(column.title);
  EXPECT_THAT(titles, ElementsAre("model", "log", "targets", "perplexity", "0-1024", "1024-2048"));
  std::vector<std::string> first;
  for (const Entry& entry : table.rows[0]) first.push_back(entry.text);
  EXPECT_THAT(first, ElementsAre("big", "long", "2,048", "2.718", "1.000", "7.389"));
  EXPECT_EQ(table.rows[1][4].text, "2.718");
  EXPECT_EQ(table.rows[1][5].text, "");
}

TEST(LossLog, DrawsKnownNamesAsTheirPolicies) {
  LossLogs model{.name = "big", .logs = {}};
  for (const std::string label : {"attention_sinks", "h2o", "other", "transformers"}) {
    model.logs.push_back({.label = label, .series = taken(parse_loss_log(log_text(128, 1)))});
  }
  const Figure figure = loss_log_figure(std::span(&model, 1));
  for (const std::string policy : {"streaming", "h2o", "dense"}) {
    EXPECT_THAT(figure.body, HasSubstr(std::string(look_of(find_policy(policy), 0).colour)))
        << policy;
  }
  EXPECT_THAT(figure.body, HasSubstr("set yrange [1:10]"));
  EXPECT_THAT(figure.csv, HasSubstr("transformers,big,32,2.718281828459045\n"));
}

TEST(PositionPlot, ALastRunOfFewTargetsIsLeftOut) {
  std::vector<LossPoint> series;
  for (std::size_t i = 0; i < 9; ++i) series.push_back({.first = i, .targets = 1, .nats = 1});
  EXPECT_EQ(runs_of(series, 4).size(), 2U);
  series.push_back({.first = 9, .targets = 1, .nats = 3});
  const std::vector<LossPoint> runs = runs_of(series, 4);
  ASSERT_EQ(runs.size(), 3U);
  EXPECT_EQ(runs[2], (LossPoint{.first = 8, .targets = 2, .nats = 4}));
  EXPECT_EQ(targets_of_point(32 * 16, 16), 16U);
  EXPECT_EQ(targets_of_point(32 * 16 + 1, 16), 32U);
}

TEST(LossLog, StandsInTheReport) {
  const TemporaryFolder folder;
  write_log(folder.path("a <b>/dense.csv"), log_text(300, 1));
  const std::string db = folder.path("run.db");
  auto writer = taken(ResultsWriter::begin(db, "kvcheck replay x"));
  ASSERT_TRUE(writer.add(testing::fake_replay(testing::small_fake())));
  ASSERT_TRUE(writer.finish());
  ReportExtras extras;
  extras.logs.push_back(taken(read_loss_logs(folder.path("a <b>"))));
  const std::string out = folder.path("report");
  ASSERT_TRUE(write_report(db, 0, out, extras));
  const std::string page = read_text(out + "/index.html");
  EXPECT_THAT(page, AllOf(HasSubstr("href=\"#logs\""), HasSubstr("a &lt;b&gt;"),
                          Not(HasSubstr("<b>")), Not(HasSubstr("could not draw"))));
  for (const std::string name : {"perplexity.svg", "perplexity.png", "perplexity.csv",
                                 "perplexities.csv", "perplexities.md"}) {
    EXPECT_TRUE(std::filesystem::exists(out + "/logs/" + name)) << name;
  }
  // Such a report may be replaced like any other.
  ASSERT_TRUE(write_report(db, 0, out));
  EXPECT_FALSE(std::filesystem::exists(out + "/logs"));
}

// The shape that published per-token logs of large models have.
TEST(LossLog, ALargeModelBreaksWithoutItsSinks) {
  const std::string folder = test::shared_data("ppl-logs/llama_2_7b");
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "the logs are not here";
  const LossLogs model = taken(read_loss_logs(folder));
  const auto later = [](const LossLog& log) {
    return segments_of(log.series, 1024)[1].perplexity();
  };
  ASSERT_EQ(model.logs.size(), 3U);
  EXPECT_LT(later(model.logs[0]), 7) << model.logs[0].label;
  EXPECT_LT(later(model.logs[1]), 7) << model.logs[1].label;
  EXPECT_GT(later(model.logs[2]), 1000) << model.logs[2].label;
}

}  // namespace
}  // namespace kv::reports
