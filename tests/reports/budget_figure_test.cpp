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
    const std::string tics = share_tics(lowest);
    ASSERT_TRUE(tics.starts_with(before)) << tics;
    const double steps = (1 - lowest) / std::stod(tics.substr(before.size()));
    EXPECT_GE(steps, 2 - 1e-6) << lowest;
    EXPECT_LE(steps, 5 + 1e-6) << lowest;
  }
  EXPECT_EQ(share_tics(1), automatic_tics);
  EXPECT_EQ(share_tics(-0.5), automatic_tics);
}

// Every spec of a wide sweep is drawn at its budget, and the legend has the room it needs.
TEST(BudgetFigure, HasRoomForManyPolicies) {
  testing::FakeReplay wide = small_fake();
  wide.specs.clear();
  for (int recent = 1; recent <= 60; ++recent) {
    wide.specs.push_back("h2o:recent=" + std::to_string(recent));
  }
  wide.tokens = 128;
  wide.budgets = {64};
  const ReplayResult result = fake_replay(wide);
  const Figure figure = budget_figure(sweep_of(result));
  std::size_t points = 0;
  for (const std::string_view line : split(figure.csv, '\n')) {
    const auto fields = split(line, ',');
    if (fields.size() != 6 || fields[0] == "policy") continue;
    EXPECT_EQ(fields[2], "64") << line;
    ++points;
  }
  EXPECT_GE(points, 60U);
  EXPECT_GT(figure.width, budget_figure(sweep_of(fake_replay(small_fake()))).width);
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
