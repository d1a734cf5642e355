#include "kvcheck/cli/report/plot.h"

#include <filesystem>
#include <fstream>

#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/figures/figure_timing.h"
#include "kvcheck/reports/figures/figures.h"
#include "kvcheck/reports/numbers/sweep.h"
#include "kvcheck/reports/store/results.h"
#include "kvcheck/tests/cli/run.h"
#include "kvcheck/tests/reports/fake_replay.h"
#include "kvcheck/tests/reports/fake_results.h"

namespace kv::cli {
namespace {

using test::Ran;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::taken;

// A results file with a replay of three policies, an evaluation, a timing and answers.
class Plot : public ::testing::Test {
 protected:
  void SetUp() override {
    testing::FakeReplay fake = testing::small_fake();
    fake.specs = {"dense", "window", "h2o:sinks=4", "tova"};
    auto writer = taken(reports::ResultsWriter::begin(db_, "kvcheck replay"));
    ASSERT_TRUE(writer.add(testing::fake_replay(fake)));
    ASSERT_TRUE(writer.add(testing::fake_evaluation(512, true)));
    ASSERT_TRUE(writer.add(testing::fake_timing()));
    ASSERT_TRUE(writer.add(testing::fake_tasks()));
    ASSERT_TRUE(writer.finish());
  }

  [[nodiscard]] Ran plot(const std::vector<std::string>& words) const {
    std::vector<std::string> arguments = {"plot"};
    arguments.insert(arguments.end(), words.begin(), words.end());
    return test::run(arguments);
  }

  [[nodiscard]] std::string made(const std::string& name) const {
    return test::read_text(folder_ / name);
  }

  test::TemporaryFolder folder_;
  std::string db_ = folder_ / "run.db";
};

// Every figure that the list names is drawn in every format; widths are those that were asked for.
TEST_F(Plot, DrawsEveryFigureOfItsList) {
  const Ran list = plot({db_, "--list"});
  ASSERT_EQ(list.status, 0) << list.err;
  std::size_t figures = 0;
  for (const std::string_view line : split(list.out, '\n')) {
    if (line.empty()) continue;
    const std::string name(line.substr(0, line.find("  ")));
    const std::string_view last = std::string_view(name).substr(name.find('/') + 1);
    EXPECT_TRUE(std::ranges::count(plot_command.first_words, last)) << name << " is not completed";
    for (const std::string ending : {"pdf", "svg", "png"}) {
      const std::string file = folder_ / ("x." + ending);
      const Ran ran = plot({name, db_, "-o", file});
      ASSERT_EQ(ran.status, 0) << name << ": " << ran.err;
      const std::string bytes = made("x." + ending);
      EXPECT_TRUE(ending != "pdf" || bytes.starts_with("%PDF")) << name;
      const bool sized = bytes.find(" width=\"84mm\" height=\"") != std::string::npos;
      EXPECT_TRUE(ending != "svg" || sized) << name;
      EXPECT_TRUE(ending != "png" || bytes.substr(1, 3) == "PNG") << name;
    }
    ++figures;
  }
  EXPECT_GE(figures, 8U + 3 + 1 + 2);
}

// What a Python script prints of a PDF. `parts` has its bytes and, since some versions of cairo
// compress the description of pages too, each of its streams as it was before.
std::string of_pdf(const std::string& pdf, const std::string& script) {
  const Ran ran = test::run_shell("python3 - '" + pdf + "' <<'END'\n" + R"(
import collections, re, sys, zlib
with open(sys.argv[1], "rb") as file:
    parts = [file.read()]
for stream in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", parts[0], re.S):
    try:  # decompress() would fail where the last byte looks like the end of a line
        parts.append(zlib.decompressobj().decompress(stream))
    except zlib.error:
        pass
)" + script + "\nEND");
  EXPECT_EQ(ran.status, 0) << ran.err;
  return ran.out;
}

// The width of its pages, in points.
std::string page_width(const std::string& pdf) {
  return of_pdf(pdf, R"(
widths = [re.findall(rb"/MediaBox \[ 0 0 ([0-9.]+) ", part) for part in parts]
print(*{width.decode() for some in widths for width in some}))");
}

// The size of letters, in points, at which most texts are set.
std::string usual_letters(const std::string& pdf) {
  return of_pdf(pdf, R"(
sizes = collections.Counter()
for part in parts:
    for size in re.findall(rb"([0-9.]+) 0 0 -[0-9.]+ [0-9. ]+ Tm", part):
        sizes["%.1f" % float(size)] += 1
print(sizes.most_common(1)[0][0]))");
}

TEST_F(Plot, IsAsWideAsAsked) {
  // The width of a PNG is in bytes 16 to 19; 84 mm are 992 dots at 300 to the inch.
  ASSERT_EQ(plot({"budget", db_, "-o", folder_ / "x.png"}).status, 0);
  const std::string png = made("x.png");
  EXPECT_EQ(static_cast<unsigned char>(png[18]) * 256 + static_cast<unsigned char>(png[19]), 992);
  // The page of a PDF is in points, 72 to the inch.
  ASSERT_EQ(plot({"budget", db_, "--size", "2.5in", "-o", folder_ / "x.pdf"}).status, 0);
  EXPECT_EQ(page_width(folder_ / "x.pdf"), "180\n");
  ASSERT_EQ(
      plot({"budget", db_, "--style", "slide", "--format", "svg", "-o", folder_ / "x"}).status, 0);
  EXPECT_THAT(made("x"), HasSubstr(" width=\"240mm\""));
}

TEST_F(Plot, HasLettersOfTheSizeOfItsStyle) {
  const std::string file = folder_ / "x.pdf";
  ASSERT_EQ(plot({"budget", db_, "-o", file}).status, 0);
  EXPECT_EQ(usual_letters(file), "7.0\n");
  ASSERT_EQ(plot({"budget", db_, "--size", "174mm", "-o", file}).status, 0);
  EXPECT_EQ(usual_letters(file), "7.0\n");
  ASSERT_EQ(plot({"budget", db_, "--style", "slide", "-o", file}).status, 0);
  EXPECT_EQ(usual_letters(file), "16.0\n");
}

TEST_F(Plot, ShowsThePoliciesThatAreNamed) {
  const Ran ran = plot({"budget", db_, "--policies", "h2o:sinks=4", "--policies", "window", "-o",
                        folder_ / "x.svg", "--script"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(made("x.csv"),
              AllOf(HasSubstr("\nh2o:sinks=4,"), HasSubstr("\nwindow,"), Not(HasSubstr("tova"))));
  EXPECT_THAT(made("x.svg"), AllOf(HasSubstr("h2o:sinks=4"), Not(HasSubstr("tova"))));
  const Ran wrong = plot({"budget", db_, "--policies", "lru"});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.err, HasSubstr("--policies names 'lru', which no run has"));
}

// A name may be the beginning of another one.
TEST_F(Plot, ShowsOnlyThePolicyOfAWholeName) {
  testing::FakeReplay fake = testing::small_fake();
  fake.specs = {"window", "streaming", "streaming;timing=lazy:8"};
  const std::string db = folder_ / "lazy.db";
  auto writer = taken(reports::ResultsWriter::begin(db, "kvcheck replay"));
  ASSERT_TRUE(writer.add(testing::fake_replay(fake)));
  ASSERT_TRUE(writer.finish());
  const auto numbers_of = [&](const std::string& name) {
    EXPECT_EQ(plot({"budget", db, "--policies", name, "-o", folder_ / "x.svg", "--script"}).status,
              0);
    return made("x.csv");
  };
  EXPECT_THAT(numbers_of("streaming"), AllOf(HasSubstr("\nstreaming,"), Not(HasSubstr("lazy"))));
  EXPECT_THAT(numbers_of("streaming lazy:8"),
              AllOf(HasSubstr("\nstreaming lazy:8,"), Not(HasSubstr("\nstreaming,"))));
  EXPECT_THAT(numbers_of("streaming;timing=lazy:8"), Not(HasSubstr("\nstreaming,")));
}

TEST_F(Plot, SaysIfTheFiguresPartHasNotThePolicy) {
  // The evaluation has no tova, which the replay has.
  const Ran ran = plot({"evaluation-1/budget", db_, "--policies", "tova", "-o", folder_ / "x.pdf"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, HasSubstr("--policies names 'tova', which evaluation-1 does not have;"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "x.pdf"));
}

TEST_F(Plot, GivesPoliciesNamesAndColoursOfAFile) {
  const std::string names = folder_ / "names.txt";
  const auto drawn = [&](const std::string& text) {
    std::ofstream(names) << text;
    return plot({"budget", db_, "--names", names, "-o", folder_ / "x.svg", "--script"});
  };
  ASSERT_EQ(drawn("# ours\n\nh2o:sinks=4 = Heavy = hitters #Ab0102\n  tova = TOVA\r\n"
                  "window = #00ff00\n")
                .status,
            0);
  EXPECT_THAT(made("x.svg"), AllOf(HasSubstr("Heavy = hitters"), HasSubstr("TOVA"),
                                   HasSubstr("window"), Not(HasSubstr("h2o"))));
  EXPECT_THAT(made("x.gp"), AllOf(HasSubstr("rgb '#Ab0102'"), HasSubstr("rgb '#00ff00'")));
  EXPECT_THAT(made("x.csv"), HasSubstr("\nTOVA,"));
  const auto complaint = [&](const std::string& text) {
    const Ran ran = drawn(text);
    EXPECT_EQ(ran.status, 2) << text;
    return ran.err;
  };
  EXPECT_THAT(complaint("tova = A\nh2o:sinks=4\n"),
              HasSubstr("names.txt line 2: expected 'POLICY = NAME #rrggbb', with blanks around"));
  EXPECT_THAT(complaint("h2o = "), HasSubstr("line 1: expected 'POLICY = NAME"));
  EXPECT_THAT(complaint("tova = A\ntova = B\n"), HasSubstr("line 2: 'tova' is also in line 1"));
  EXPECT_THAT(complaint("tova = A\nh2o = A\n"), HasSubstr("line 2: 'A' is also in line 1"));
  EXPECT_THAT(complaint("tova = A\x1b[1m\n"), HasSubstr("line 1: expected a name of printable"));
  std::string many;
  for (int i = 0; i < 1001; ++i) many += std::to_string(i) + " = #000000\n";
  EXPECT_THAT(complaint(many), HasSubstr("line 1001: expected at most 1000 names"));
  std::filesystem::remove(names);
  EXPECT_THAT(plot({"budget", db_, "--names", names}).err, HasSubstr("names.txt"));
}

// A reader could not tell two kinds of caches with one name apart.
TEST_F(Plot, RefusesANameOfTwoKindsOfCaches) {
  testing::FakeReplay fake = testing::small_fake();
  fake.specs = {"window", "h2o:sinks=4", "h2o:sinks=2"};
  const std::string db = folder_ / "two.db";
  auto writer = taken(reports::ResultsWriter::begin(db, "kvcheck replay"));
  ASSERT_TRUE(writer.add(testing::fake_replay(fake)));
  ASSERT_TRUE(writer.finish());
  const std::string names = folder_ / "names.txt";
  const std::vector<std::string> words = {"budget", db, "--names", names, "-o", folder_ / "x.svg"};
  std::ofstream(names) << "h2o = H2O\n";
  EXPECT_THAT(plot(words).err,
              HasSubstr("line 1: 'h2o' means both 'h2o:sinks=4' and 'h2o:sinks=2' of trace-1"));
  std::ofstream(names) << "h2o:sinks=2 = Two\nh2o = H2O\n";
  EXPECT_EQ(plot(words).status, 0);
  EXPECT_THAT(made("x.svg"), AllOf(HasSubstr("Two"), HasSubstr("H2O")));
}

TEST_F(Plot, KeepsAScriptThatDrawsTheSameFigure) {
  ASSERT_EQ(plot({"stream", db_, "-o", folder_ / "x.png", "--script"}).status, 0);
  const std::string png = made("x.png");
  std::filesystem::remove(folder_ / "x.png");
  const Ran again = test::run_shell("cd '" + (folder_ / "") + "' && gnuplot -d x.gp");
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_EQ(made("x.png"), png);
}

TEST_F(Plot, SaysWhatIsWrong) {
  const auto complaint = [&](const std::vector<std::string>& words) {
    const Ran ran = plot(words);
    EXPECT_EQ(ran.status, 2);
    return ran.err;
  };
  EXPECT_THAT(complaint({"bugdet", db_}), HasSubstr("unknown figure 'bugdet'"));
  EXPECT_THAT(complaint({"budget", db_, "--size", "84"}), HasSubstr("a width such as 84mm"));
  EXPECT_THAT(complaint({"budget", db_, "--size", "2mm"}), HasSubstr("expected 30mm to 1000mm"));
  EXPECT_THAT(complaint({"budget", db_, "--format", "eps"}), HasSubstr("unknown format 'eps'"));
  EXPECT_THAT(complaint({"budget", db_, "--format", "pdf", "-o", "x.svg"}),
              HasSubstr("--format is pdf, but 'x.svg' ends as a file of svg"));
  EXPECT_THAT(complaint({"budget", db_, "--style", "poster"}), HasSubstr("unknown style 'poster'"));
  EXPECT_THAT(complaint({"budget"}), HasSubstr("a figure and a results file, found only 'budget'"));
}

// Words of axes that fit a panel of a wide page would be cut off beside one of a column.
TEST(PageWidth, HasWordsThatFit) {
  const ReplayResult result = testing::fake_replay(testing::small_fake());
  reports::Sweep sweep = reports::sweep_of(result);
  sweep.page.width = 476;
  EXPECT_THAT(reports::stream_figure(sweep).body,
              AllOf(HasSubstr("set xlabel 'position, tokens'"), HasSubstr("set xtics 0,")));
  EXPECT_THAT(reports::sizes_figure(sweep).body,
              HasSubstr("set ylabel 'rows, visible as circles'"));
  sweep.page.width = 0;
  EXPECT_THAT(reports::stream_figure(sweep).body,
              AllOf(HasSubstr("set xlabel 'position of the query, tokens'"),
                    Not(HasSubstr("set xtics 0,"))));
  EXPECT_THAT(reports::sizes_figure(sweep).body, HasSubstr("visible (circles)'"));
}

// Of numbers that would touch, every second is left out.
TEST(PageWidth, LeavesOutTicsThatWouldTouch) {
  TimingResult result = testing::fake_timing();
  const TimedCell first = result.cells[0];
  for (const std::size_t length : {512U, 2048U, 4096U}) {
    result.cells.push_back(first);
    result.cells.back().length = length;
  }
  EXPECT_THAT(reports::timing_figure(result, {.width = 476}).body,
              HasSubstr("set xtics (256,1024,4096)"));
  EXPECT_THAT(reports::timing_figure(result).body, HasSubstr("set xtics (256,512,1024,2048,4096)"));
}

// On a narrow page the panels are below each other, and the legend is below the panels.
TEST(PageWidth, LimitsAFigure) {
  const ReplayResult result = testing::fake_replay(testing::small_fake());
  reports::Sweep sweep = reports::sweep_of(result);
  for (const double width : {476.0, 700.0, 1000.0}) {
    sweep.page.width = width;
    for (const auto make :
         {reports::budget_figure, reports::stream_figure, reports::sizes_figure,
          reports::residency_figure, reports::inclusion_figure, reports::attention_figure,
          reports::lifetime_figure, reports::heads_figure}) {
      const reports::Figure figure = make(sweep);
      EXPECT_LE(static_cast<double>(figure.width), width) << figure.name;
      EXPECT_GE(static_cast<double>(figure.width), 0.9 * width - 1) << figure.name;
    }
  }
}

}  // namespace
}  // namespace kv::cli
