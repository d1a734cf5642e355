#include "kvcheck/reports/figures/figure_kills.h"

#include <filesystem>

#include "kvcheck/base/file.h"
#include "kvcheck/reports/page/report.h"
#include "kvcheck/reports/store/results.h"
#include "kvcheck/tests/reports/fake_replay.h"
#include "kvcheck/tests/reports/fake_results.h"

namespace kv::reports {
namespace {

using testing::fake_replay;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::read_text;
using testing::small_fake;
using ::testing::StartsWith;
using testing::taken;
using testing::TemporaryFolder;

const std::string json = testing::fake_matrix_json();

KillMatrix matrix() {
  return taken(parse_kill_matrix(json));
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

std::string complaint(const std::string& text) {
  const auto read = parse_kill_matrix(text);
  return read ? "" : read.error().message;
}

TEST(KillMatrix, IsReadAsItWasWritten) {
  const KillMatrix read = matrix();
  EXPECT_EQ(read.laws.size(), 3U);
  ASSERT_EQ(read.rows.size(), 3U);
  EXPECT_EQ(read.rows[0].killed.size(), 3U);
  EXPECT_EQ(read.rows[0].killed[0].law, 0U);
  EXPECT_EQ(read.rows[0].killed[0].cases, 30U);
  EXPECT_EQ(quickest_cell(read, read.rows[0])->law, 1U);  // cases before statistics
  EXPECT_EQ(cases_text(read, read.rows[0].killed[2]), "statistics");
  EXPECT_EQ(quickest_cell(read, read.rows[2]), nullptr);
  EXPECT_EQ(
      kill_summary(read),
      "2 of 3 mutants are killed; 1 is declared equivalent. Each of the 3 laws kills at least "
      "one mutant. In 800 runs of 4 right subjects, no law was broken.");
}

TEST(KillMatrix, SaysWhatIsNotAsItShouldBe) {
  KillMatrix wrong = matrix();
  wrong.rows[1].verdict = "LIVES";
  wrong.idle = {"size.full"};
  wrong.accused = {"plain of size.full, seed 9"};
  EXPECT_EQ(kill_summary(wrong),
            "Of 3 mutants, these have an unexpected verdict: by-chance. Of 3 laws, these kill no "
            "mutant: size.full. In 800 runs of 4 right subjects, these broke a law: plain of "
            "size.full, seed 9.");
  wrong.whole = false;
  EXPECT_THAT(kill_summary(wrong), Not(HasSubstr("kill no mutant")));
}

TEST(KillMatrix, ComplainsOfOtherFiles) {
  EXPECT_THAT(complaint("mutant,law,cases\n"),
              StartsWith("a kill matrix is JSON, and this is not"));
  EXPECT_THAT(complaint("{}"), HasSubstr("\"passed\" is missing"));
  EXPECT_THAT(complaint(replaced(json, "{\"law\":\"rows.unique\",\"statistical\":false},", "")),
              HasSubstr("'rows.unique' is not among the laws"));
  EXPECT_THAT(complaint(replaced(json, R"("law":"size.full","cases")", R"("law":"a\nb","cases")")),
              HasSubstr(R"('a\x0ab' is not among the laws)"));
  EXPECT_THAT(complaint(replaced(json, "\"cases\":7", "\"cases\":-7")), HasSubstr("cases"));
  const TemporaryFolder folder;
  const auto absent = read_kill_matrix(folder.path("m.json"));
  ASSERT_FALSE(absent);
  EXPECT_THAT(absent.error().message, HasSubstr("m.json"));
}

TEST(KillMatrix, IsTwoTables) {
  const KillMatrix read = matrix();
  EXPECT_THAT(to_csv(mutants_table(read)),
              HasSubstr("a|b,all <b> of it,made,killed,3,size.full,7,sinks=0;calls=f1,"
                        "\"rows.unique (30), size.full (7), chance.exact (statistics)\"\n"));
  EXPECT_THAT(to_csv(mutants_table(read)), HasSubstr("equivalent: it is the same,0,,,,\n"));
  EXPECT_EQ(to_csv(killing_laws_table(read)),
            "law,mutants,first_for,alone\nrows.unique,1,0,\nsize.full,1,1,\n"
            "chance.exact,2,1,by-chance\n");
}

TEST(KillMatrix, IsAPageThatEscapes) {
  const std::string page = kill_matrix_page(matrix(), "kill-matrix.svg");
  EXPECT_THAT(page, StartsWith("# The kill matrix\n"));
  EXPECT_THAT(page, HasSubstr("![Which law kills which mutant](kill-matrix.svg)"));
  EXPECT_THAT(page, HasSubstr("`sinks=0;calls=f1`"));
  EXPECT_THAT(page, HasSubstr("and 2 more"));
  EXPECT_THAT(page, HasSubstr("equivalent: it is the same"));
  EXPECT_THAT(page, Not(HasSubstr("| a|b |")));
  EXPECT_THAT(page, Not(HasSubstr("<b>")));
  EXPECT_THAT(kill_matrix_page(matrix(), ""), Not(HasSubstr("![")));
}

TEST(KillMatrix, IsAFigureWithAsManyCells) {
  const Figure figure = kill_matrix_figure(matrix());
  EXPECT_THAT(figure.csv, StartsWith("mutant,law,cases\na|b,rows.unique,30\n"));
  EXPECT_THAT(figure.csv, HasSubstr("by-chance,chance.exact,statistics\n"));
  EXPECT_THAT(figure.caption, HasSubstr("800 runs of 4 right subjects"));
  EXPECT_EQ(kill_matrix_figure({}).body, "");
}

class ReportOfLaws : public ::testing::Test {
 protected:
  void SetUp() override {
    auto writer = taken(ResultsWriter::begin(db_, "kvcheck replay"));
    ASSERT_TRUE(writer.add(fake_replay(small_fake())));
    ASSERT_TRUE(writer.finish());
  }

  TemporaryFolder folder_;
  std::string db_ = folder_.path("run.db");
  std::string out_ = folder_.path("out");
};

TEST_F(ReportOfLaws, ShowsFigureAndTables) {
  const KillMatrix reported = matrix();
  ASSERT_TRUE(write_report(db_, 0, out_, {.matrix = &reported}));
  const std::string page = read_text(out_ + "/index.html");
  EXPECT_THAT(page, HasSubstr("<section id=\"laws\">"));
  EXPECT_THAT(page, HasSubstr("<a href=\"#laws\">"));
  EXPECT_THAT(page, HasSubstr("800 runs of 4 right subjects"));
  EXPECT_THAT(page, HasSubstr("all &lt;b&gt; of it"));
  EXPECT_THAT(page, HasSubstr("aria-label=\"The kill matrix\""));
  for (const std::string name : {"kill-matrix.svg", "kill-matrix.png", "kill-matrix.csv",
                                 "kill-matrix.md", "mutants.csv", "laws.csv"}) {
    EXPECT_TRUE(std::filesystem::exists(out_ + "/laws/" + name)) << name;
  }
  // A report with laws is replaced as any other, here by one without.
  ASSERT_TRUE(write_report(db_, 0, out_));
  EXPECT_THAT(read_text(out_ + "/index.html"), Not(HasSubstr("id=\"laws\"")));
  EXPECT_FALSE(std::filesystem::exists(out_ + "/laws"));
}

}  // namespace
}  // namespace kv::reports
