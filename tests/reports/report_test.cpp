#include "kvcheck/reports/page/report.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "kvcheck/base/file.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/policies/registry/registry.h"
#include "kvcheck/reports/figures/figures.h"
#include "kvcheck/reports/page/report_page.h"
#include "kvcheck/reports/store/results.h"
#include "kvcheck/tests/reports/fake_replay.h"

namespace kv::reports {
namespace {

namespace fs = std::filesystem;
using testing::fake_replay;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::read_text;
using testing::small_fake;
using testing::taken;
using testing::TemporaryFolder;

std::map<std::string, std::string> files_in(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    files[entry.path().lexically_relative(folder).string()] = read_text(entry.path().string());
  }
  return files;
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

class Report : public ::testing::Test {
 protected:
  void SetUp() override { store({fake_replay(small_fake())}); }

  void store(const std::vector<ReplayResult>& traces) {
    auto writer = taken(ResultsWriter::begin(db_, "kvcheck replay <x> & y"));
    for (const ReplayResult& trace : traces) ASSERT_TRUE(writer.add(trace));
    ASSERT_TRUE(writer.finish());
  }

  std::string message(const std::string& out) {
    const auto done = write_report(db_, 0, out);
    return done ? "" : done.error().message;
  }

  TemporaryFolder folder_;
  std::string db_ = folder_.path("run.db");
  std::string out_ = folder_.path("out");
};

TEST_F(Report, OneThatIsStoppedLeavesNothingBehind) {
  std::size_t figures = 0;
  const auto counted = [&] { return ++figures > 0; };
  ASSERT_TRUE(write_report(db_, 0, out_, {.proceed = counted}));
  const auto before = files_in(out_);
  for (const std::size_t most : {std::size_t{0}, std::size_t{3}, figures - 1}) {
    for (const std::string& out : {out_, folder_.path("new")}) {
      std::size_t asked = 0;
      const auto done = write_report(db_, 0, out, {.proceed = [&] { return ++asked <= most; }});
      ASSERT_FALSE(done) << most;
      EXPECT_EQ(done.error().message, "interrupted; the unfinished report was removed");
    }
  }
  EXPECT_EQ(files_in(out_), before);
  EXPECT_THAT(names_in(fs::path(db_).parent_path().string()),
              ::testing::ElementsAre("out", "run.db"));
}

TEST_F(Report, HoldsEveryFigureInThreeFormsAndEveryTable) {
  ASSERT_EQ(message(out_), "");
  const auto files = files_in(out_);
  for (const std::string name : {"budget", "stream", "sizes", "residency", "inclusion", "attention",
                                 "lifetimes", "head-mass"}) {
    const std::string base = "trace-1/" + name;
    ASSERT_TRUE(files.contains(base + ".svg")) << name;
    EXPECT_NE(files.at(base + ".svg").find("</svg>"), std::string::npos) << name;
    EXPECT_EQ(files.at(base + ".png").substr(1, 3), "PNG") << name;
    EXPECT_TRUE(files.at(base + ".csv").starts_with("policy,")) << name;
  }
  for (const std::string name : {"summary.csv", "summary.md", "cells.csv", "cells.jsonl",
                                 "heads.csv", "series.csv", "dense.csv"}) {
    EXPECT_TRUE(files.contains("trace-1/" + name)) << name;
  }
  EXPECT_THAT(files.at("explore-1.html"), HasSubstr("<h1>What the cache keeps</h1>"));
  EXPECT_THAT(files.at("index.html"),
              HasSubstr("<a href=\"explore-1.html#trace=0\">Step through this stream</a>"));
  EXPECT_EQ(files.size(), 2U + 8 * 3 + 7);
  EXPECT_EQ(names_in(folder_.path("")), (std::vector<std::string>{"out", "run.db"}));
}

TEST_F(Report, IsTheSameBytesTwice) {
  ASSERT_EQ(message(out_), "");
  ASSERT_EQ(message(folder_.path("again")), "");
  EXPECT_EQ(files_in(out_), files_in(folder_.path("again")));
}

TEST_F(Report, EscapesWhatCameFromOutsideAndNeedsNoOtherFile) {
  ReplayResult hostile = fake_replay(small_fake());
  hostile.trace.name = "<script>alert(1)</script>'\"`";
  hostile.trace.model = "</dd><img>";
  store({hostile});
  ASSERT_EQ(message(out_), "");
  const std::string page = read_text(out_ + "/index.html");
  EXPECT_EQ(page.find("<script>alert"), std::string::npos);
  EXPECT_EQ(page.find("<img"), std::string::npos);
  EXPECT_NE(page.find("&lt;script&gt;alert(1)&lt;/script&gt;&#39;&quot;`"), std::string::npos);
  EXPECT_NE(page.find("kvcheck replay &lt;x&gt; &amp; y"), std::string::npos);
  for (const std::string loaded : {"<link", " src=", "@import", "url(http"}) {
    EXPECT_EQ(page.find(loaded), std::string::npos) << loaded;
  }
}

TEST_F(Report, ReplacesAnOlderReportButNothingElse) {
  ASSERT_EQ(message(out_), "");
  store({fake_replay(small_fake()), fake_replay(small_fake())});
  ASSERT_EQ(message(out_), "");
  EXPECT_TRUE(fs::exists(out_ + "/trace-2/summary.csv"));
  ASSERT_TRUE(write_file(out_ + "/trace-1/notes.txt", "mine"));
  EXPECT_EQ(message(out_), "cannot replace the report in '" + out_ +
                               "': it also holds 'trace-1/notes.txt', which no report has; move it "
                               "away or name another folder");
  EXPECT_EQ(read_text(out_ + "/trace-1/notes.txt"), "mine");
}

TEST_F(Report, RefusesAFolderOfOtherThings) {
  fs::create_directory(out_);
  ASSERT_TRUE(write_file(out_ + "/index.html", "<html>my own page</html>"));
  EXPECT_EQ(message(out_), "cannot write a report to '" + out_ +
                               "': it is a folder with something else in it; name a new or empty "
                               "one");
  EXPECT_EQ(message(db_),
            "cannot write a report to '" + db_ + "': it is a file; expected a folder");
  EXPECT_EQ(names_in(out_), std::vector<std::string>{"index.html"});
}

TEST_F(Report, TakesAnEmptyFolderAndMakesParents) {
  fs::create_directory(out_);
  EXPECT_EQ(message(out_ + "/"), "");
  EXPECT_TRUE(fs::exists(out_ + "/index.html"));
  EXPECT_EQ(message(folder_.path("a/b/c")), "");
  EXPECT_TRUE(fs::exists(folder_.path("a/b/c/index.html")));
}

TEST_F(Report, LeavesNothingBehindWhenTheRunCannotBeRead) {
  EXPECT_FALSE(write_report(db_, 9, out_));
  EXPECT_FALSE(write_report(folder_.path("absent.db"), 0, out_));
  EXPECT_EQ(names_in(folder_.path("")), std::vector<std::string>{"run.db"});
}

TEST_F(Report, HasTablesAndSaysSoWithoutGnuplot) {
  const std::string path = ::getenv("PATH") == nullptr ? "" : ::getenv("PATH");
  ::setenv("PATH", "/nonexistent", 1);
  const std::string said = message(out_);
  ::setenv("PATH", path.c_str(), 1);
  ASSERT_EQ(said, "");
  EXPECT_FALSE(fs::exists(out_ + "/trace-1/budget.svg"));
  EXPECT_TRUE(fs::exists(out_ + "/trace-1/budget.csv"));
  const std::string page = read_text(out_ + "/index.html");
  EXPECT_NE(page.find("gnuplot is not installed; there are no figures"), std::string::npos);
  EXPECT_NE(page.find("<table>"), std::string::npos);
}

TEST_F(Report, NamesTheRequestedFolderWhenTheDiskIsFull) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{.rlim_cur = 100, .rlim_max = 100};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    ::_exit(message(out_) == "cannot write '" + out_ + "/trace-1/summary.csv': File too large" ? 0
                                                                                               : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(names_in(folder_.path("")), std::vector<std::string>{"run.db"});
}

// What the page says of a trace with these layers.
std::string page_of(const std::vector<std::size_t>& layers, const std::string& model) {
  ReplayResult result = fake_replay(small_fake());
  result.trace.layers = layers;
  result.trace.model = model;
  const TraceSection section{.result = &result, .folder = "trace-1", .figures = {}};
  ReportSections page;
  page.traces = {section};
  return report_page(page);
}

TEST(ReportPage, SaysWhatIsExactOnlyOfTheLayersThatWereRecorded) {
  const std::string both = "exact for the first layer and first order above it";
  EXPECT_THAT(page_of({0, 1}, "m"), HasSubstr(both));
  EXPECT_THAT(page_of({3, 5}, "m"),
              HasSubstr("No recorded layer is the first: the numbers are first order."));
  EXPECT_THAT(page_of({3, 5}, "m"), Not(HasSubstr("exact for the")));
  EXPECT_THAT(page_of({0}, "m"), Not(HasSubstr("first order")));
}

TEST(ReportPage, SaysThatAModelWasRecordedOnlyWhereOneIsNamed) {
  EXPECT_THAT(page_of({0, 1}, "m"), HasSubstr("recorded from a model that evicted nothing"));
  EXPECT_THAT(page_of({0, 1}, ""), HasSubstr("the attention was recorded with nothing evicted"));
  EXPECT_THAT(page_of({0, 1}, ""), Not(HasSubstr("a model")));
}

// Results with holes: no residency, no map, no lifetimes, no series, one head.
TEST_F(Report, RanksPoliciesOverAllTextsIfThereAreSeveral) {
  ASSERT_TRUE(write_report(db_, 0, out_, {}));
  EXPECT_THAT(read_text(out_ + "/index.html"), Not(HasSubstr("<section id=\"texts\">")));
  EXPECT_FALSE(fs::exists(out_ + "/texts"));
  std::vector<ReplayResult> traces(6, fake_replay(small_fake()));
  for (std::size_t text = 0; text < traces.size(); ++text) {
    traces[text].trace.name = "text " + std::to_string(text);
    traces[text].trace.checksum += text;
  }
  store(traces);
  for (const char* written : {"new", "again"}) EXPECT_EQ(message(out_), "") << written;
  const std::string page = read_text(out_ + "/index.html");
  EXPECT_THAT(page, HasSubstr("<section id=\"texts\">"));
  EXPECT_THAT(page, HasSubstr("retained mass once evicting, 6 texts"));
  EXPECT_THAT(page, HasSubstr("<a href=\"texts/retained_mass.csv\">"));
  // All six are alike, so that every difference is the same.
  EXPECT_THAT(page, HasSubstr("Each is compared with the best of its budget"));
}

TEST_F(Report, ShowsWhatThereIs) {
  testing::FakeReplay fake = small_fake();
  fake.layers = 1;
  fake.heads = 1;
  fake.values = false;
  ReplayResult bare = fake_replay(fake);
  bare.map = {};
  for (CellResult& cell : bare.cells) {
    cell.residency.clear();
    cell.lifetimes.clear();
    cell.kept.clear();
    cell.series.clear();
  }
  store({bare, ReplayResult{}});
  ASSERT_EQ(message(out_), "");
  EXPECT_TRUE(fs::exists(out_ + "/trace-1/budget.svg"));
  EXPECT_FALSE(fs::exists(out_ + "/trace-1/attention.csv"));
  EXPECT_EQ(read_text(out_ + "/index.html").find("could not draw"), std::string::npos);
}

TEST(Look, GivesEveryPolicyOfTheRegistryItsOwnColourOrDash) {
  std::vector<std::pair<std::string_view, std::string_view>> looks;
  for (const PolicyEntry& policy : policy_registry()) {
    const Look look = look_of(&policy, 0);
    looks.emplace_back(look.colour, look.dash);
  }
  std::ranges::sort(looks);
  EXPECT_EQ(std::ranges::adjacent_find(looks), looks.end());
  EXPECT_FALSE(looks.empty());
}

TEST(Look, TellsPoliciesApartByColourAndMarkerWhereNoLineIsDrawn) {
  std::set<std::pair<std::string, int>> seen;
  for (const PolicyEntry& policy : policy_registry()) {
    const Look look = look_of(&policy, 0);
    EXPECT_TRUE(seen.emplace(look.colour, look.point).second) << policy.name;
  }
}

TEST(Look, ChangesDashAndMarkerButNotColourForOtherOptionsOfAPolicy) {
  const PolicyEntry* policy = &policy_registry().back();
  EXPECT_EQ(look_of(policy, 0).colour, look_of(policy, 1).colour);
  EXPECT_NE(look_of(policy, 0).dash, look_of(policy, 1).dash);
}

}  // namespace
}  // namespace kv::reports
