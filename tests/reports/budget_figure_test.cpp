#include <map>

#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/figures/figures.h"
#include "kvcheck/reports/plot/plot_text.h"
#include "kvcheck/tests/reports/fake_replay.h"

namespace kv::reports {
namespace {

using testing::fake_replay;
using testing::small_fake;

TEST(BudgetFigure, ShowsWhatIsLostAndLeavesOutWhatALogarithmCannotShow) {
  ReplayResult result = fake_replay(small_fake());
  const Spec spec = result.cells.back().cell.spec;
  for (CellResult& cell : result.cells) {
    if (cell.cell.spec != spec) continue;
    for (HeadResult& head : cell.heads) head.metrics.retained_mass = 1;
  }
  const Figure figure = budget_figure(sweep_of(result));
  std::map<std::string, double> means;
  std::size_t lost = 0;
  for (const std::string_view line : split(figure.csv, '\n')) {
    const auto fields = split(line, ',');
    if (fields.size() != 6 || fields[0] == "policy") continue;
    means[std::string(fields[0]) + " " + std::string(fields[1]) + " " + std::string(fields[2])] =
        std::stod(std::string(fields[3]));
  }
  for (const auto& [key, mean] : means) {
    const std::size_t at = key.find("lost_mass");
    if (at == std::string::npos) continue;
    std::string retained = key;
    EXPECT_DOUBLE_EQ(mean, 1 - means.at(retained.replace(at, 9, "retained_mass"))) << key;
    EXPECT_GT(mean, 0) << key;
    ++lost;
  }
  EXPECT_EQ(lost, 3U);  // two policies at two budgets, one of which lost nothing
  EXPECT_NE(figure.body.find("set logscale y"), std::string::npos);
}

TEST(BudgetFigure, SharesHaveFewTics) {
  const std::string before = "set ytics ";
  for (double lowest = 0; lowest < 0.9999; lowest += 0.01 * (1 - lowest)) {
    const std::string tics = share_tics('y', lowest);
    ASSERT_TRUE(tics.starts_with(before)) << tics;
    const double steps = (1 - lowest) / std::stod(tics.substr(before.size()));
    EXPECT_GE(steps, 2 - 1e-6) << lowest;
    EXPECT_LE(steps, 5 + 1e-6) << lowest;
  }
  EXPECT_EQ(share_tics('y', 1), automatic_tics);
  EXPECT_EQ(share_tics('y', -0.5), automatic_tics);
}

// Their means have no interval whose lower end could be the lowest number.
TEST(BudgetFigure, SharesOfPoliciesThatDrawNothingHaveFewTicsToo) {
  testing::FakeReplay fake = small_fake();
  fake.specs = {"window", "h2o:sinks=4"};
  const std::string body = budget_figure(sweep_of(fake_replay(fake))).body;
  EXPECT_NE(body.find("set yrange [*:1]\nset ytics 0."), std::string::npos);
  EXPECT_EQ(body.find("set yrange [*:1]\nset ytics autofreq"), std::string::npos);
}

// Every spec of a wide sweep is drawn at its budget, and the legend has the room it needs.
TEST(BudgetFigure, HasRoomForManyPolicies) {
  testing::FakeReplay wide = small_fake();
  wide.specs.clear();
  for (int recent = 1; recent <= 60; ++recent) {
    wide.specs.push_back("h2o:recent=" + std::to_string(recent));
  }
  wide.tokens = 128;
  wide.budgets = {64, 96};
  const ReplayResult result = fake_replay(wide);
  const Figure figure = budget_figure(sweep_of(result));
  std::size_t points = 0;
  for (const std::string_view line : split(figure.csv, '\n')) {
    const auto fields = split(line, ',');
    if (fields.size() != 6 || fields[0] == "policy") continue;
    EXPECT_TRUE(fields[2] == "64" || fields[2] == "96") << line;
    ++points;
  }
  EXPECT_GE(points, 120U);
  EXPECT_GT(figure.width, budget_figure(sweep_of(fake_replay(small_fake()))).width);
}

// Curves would be columns of points. Rows have the best policy first, and shares begin at 0 or end
// at 1.
TEST(OneBudgetFigure, HasARowForEachPolicy) {
  testing::FakeReplay fake = small_fake();
  fake.specs = {"window", "h2o:sinks=4", "random:sinks=4"};
  fake.budgets = {32};
  ReplayResult result = fake_replay(fake);
  for (CellResult& cell : result.cells) {
    const auto place = static_cast<double>(cell.cell.spec.policy->name.size());
    for (HeadResult& head : cell.heads) {
      head.metrics.retained_mass = 1 - 0.1 * place;  // the shortest name is best
      head.metrics.output_error = 0.1 * place;
    }
  }
  const Figure figure = budget_figure(sweep_of(result));
  EXPECT_EQ(figure.title, "What is kept and lost at a budget of 32");
  EXPECT_NE(figure.body.find("set ytics ('h2o:sinks=4' 0, 'window' 1, 'random' 2)"),
            std::string::npos)
      << figure.body;
  EXPECT_NE(figure.body.find("set xrange [0:*]"), std::string::npos);  // of errors
  EXPECT_NE(figure.body.find("set xrange [*:1]"), std::string::npos);
  EXPECT_EQ(figure.body.find("lost mass"), std::string::npos);  // 0.3 and 0.6 are in one decade
  EXPECT_EQ(figure.caption.find("Lost mass"), std::string::npos);
}

TEST(OneBudgetFigure, ShowsWhatIsLostWhereThatIsADecade) {
  testing::FakeReplay fake = small_fake();
  fake.specs = {"window", "h2o:sinks=4"};
  fake.budgets = {32};
  ReplayResult result = fake_replay(fake);
  for (CellResult& cell : result.cells) {
    const bool better = cell.cell.spec.policy->name == "h2o";
    for (HeadResult& head : cell.heads) head.metrics.retained_mass = better ? 0.999 : 0.5;
  }
  const Figure figure = budget_figure(sweep_of(result));
  EXPECT_NE(figure.csv.find(",lost_mass,"), std::string::npos);
  EXPECT_NE(figure.body.find("set logscale x"), std::string::npos);
}

TEST(OneBudgetFigure, ShowsAShortNameWhole) {
  for (const char* const name : {"h2o", "tova", "fifo", "window", "snapkv", "streaming"}) {
    testing::FakeReplay fake = small_fake();
    fake.specs = {name};
    fake.budgets = {32};
    const Figure figure = budget_figure(sweep_of(fake_replay(fake)));
    EXPECT_NE(figure.body.find("set ytics ('" + std::string(name) + "' 0)"), std::string::npos)
        << figure.body;
  }
}

// Where nothing was evicted there is nothing to draw, and gnuplot would refuse an empty plot.
TEST(BudgetFigure, IsLeftOutIfNothingWasLost) {
  testing::FakeReplay fake = small_fake();
  const auto tokens = static_cast<std::uint32_t>(fake.tokens);
  for (const std::vector<std::uint32_t>& budgets :
       {std::vector<std::uint32_t>{tokens}, {tokens, 2 * tokens}}) {
    fake.budgets = budgets;
    EXPECT_TRUE(budget_figure(sweep_of(fake_replay(fake))).body.empty());
  }
  fake.budgets = {tokens / 2, tokens};
  EXPECT_FALSE(budget_figure(sweep_of(fake_replay(fake))).body.empty());
}

TEST(OneBudgetFigure, CutsALongName) {
  testing::FakeReplay fake = small_fake();
  fake.specs = {"h2o", "semantic-blocks:sinks=8,likeness=dot,scores=rotated;unit=layer"};
  fake.budgets = {32};
  const ReplayResult result = fake_replay(fake);
  const Figure figure = budget_figure(sweep_of(result));
  const std::size_t cut = figure.body.find("\xE2\x80\xA6' 1) noenhanced");
  const std::size_t first = figure.body.find("\xE2\x80\xA6' 0, 'h2o' 1) noenhanced");
  EXPECT_NE(std::min(cut, first), std::string::npos) << figure.body;
  EXPECT_LE(figure.width, 900U);
}

TEST(OneBudgetFigure, FitsAPageAndSaysWhatItLeavesOut) {
  testing::FakeReplay wide = small_fake();
  wide.specs.clear();
  for (int recent = 1; recent <= 30; ++recent) {
    wide.specs.push_back("h2o:recent=" + std::to_string(recent));
  }
  wide.tokens = 128;
  wide.budgets = {64};
  const ReplayResult result = fake_replay(wide);
  Sweep sweep = sweep_of(result);
  sweep.page = {.width = 600, .height = 340};
  const Figure figure = budget_figure(sweep);
  EXPECT_LE(figure.height, 340U);
  EXPECT_EQ(figure.width, 600U);
  EXPECT_TRUE(figure.caption.starts_with("Drawn: the first 16 of 30 policies that evict. "))
      << figure.caption;
}

// A spec of another size is not in figures of one budget, and their captions say so.
TEST(FiguresOfOneBudget, NameWhatTheyLeaveOut) {
  const auto captions_of = [](const ReplayResult& result) {
    std::map<std::string, std::string> captions;
    for (const Figure& figure : figures_of(result)) captions[figure.name] = figure.caption;
    return captions;
  };
  const std::string sentence = "Not shown, because this is not their budget: ";
  for (const auto& [name, caption] : captions_of(fake_replay(small_fake()))) {
    EXPECT_EQ(caption.find(sentence), std::string::npos) << name;
  }
  testing::FakeReplay fake = small_fake();
  fake.budgets = {32};
  ReplayResult result = fake_replay(fake);
  fake.specs = {"keydiff"};
  fake.budgets = {48};
  const ReplayResult other = fake_replay(fake);
  result.cells.insert(result.cells.end(), other.cells.begin(), other.cells.end());
  const auto captions = captions_of(result);
  for (const std::string name : {"stream", "sizes", "lifetimes", "head-mass"}) {
    ASSERT_TRUE(captions.contains(name)) << name;
    EXPECT_TRUE(captions.at(name).ends_with(sentence + "keydiff.")) << captions.at(name);
  }
  EXPECT_EQ(captions.at("budget").find(sentence), std::string::npos);
}

}  // namespace
}  // namespace kv::reports
