#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/figures/figures.h"
#include "kvcheck/tests/reports/fake_replay.h"

namespace kv::reports {
namespace {

using ::testing::ContainsRegex;
using testing::fake_replay;
using testing::FakeReplay;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::read_text;
using testing::small_fake;
using testing::TemporaryFolder;

FakeReplay shaped(std::size_t layers, std::size_t heads) {
  FakeReplay fake = small_fake();
  fake.layers = layers;
  fake.heads = heads;
  fake.specs = {"window", "h2o:sinks=4"};
  return fake;
}

std::size_t count(const std::string& text, std::string_view word) {
  std::size_t times = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    ++times;
  }
  return times;
}

std::string drawn(const Figure& figure) {
  const TemporaryFolder folder;
  const auto done = draw(figure, folder.path(""));
  EXPECT_TRUE(done.has_value()) << (done ? "" : done.error().message);
  return done ? read_text(folder.path(figure.name + ".svg")) : "";
}

TEST(HeadsFigure, DrawsACellForEveryHeadOfAnyNumberOfLayersAndHeads) {
  const std::vector<std::pair<std::size_t, std::size_t>> shapes = {
      {1, 1}, {1, 8}, {3, 1}, {2, 4}, {8, 16}};
  for (const auto& [layers, heads] : shapes) {
    const Figure figure = heads_figure(sweep_of(fake_replay(shaped(layers, heads))));
    ASSERT_FALSE(figure.body.empty()) << layers << " x " << heads;
    // Two policies, and the bar's shades.
    EXPECT_EQ(count(drawn(figure), "<polygon fill"), 2 * layers * heads + 128)
        << layers << " x " << heads;
  }
}

// However flat the panels are, the bar's tics stand apart and its title is no longer than it.
TEST(HeadsFigure, HasAColourBarWithRoomForItsWords) {
  for (const std::size_t layers : {1U, 2U, 8U}) {
    const Figure figure = heads_figure(sweep_of(fake_replay(shaped(layers, 4))));
    const auto number_after = [&](std::string_view word) {
      const std::size_t at = figure.body.find(word);
      return at == std::string::npos ? 0 : std::stod(figure.body.substr(at + word.size()));
    };
    const std::size_t size = figure.body.find(" size screen ");
    ASSERT_NE(size, std::string::npos);
    const std::size_t comma = figure.body.find(',', size);
    const double tall =
        std::stod(figure.body.substr(comma + 1)) * static_cast<double>(figure.height);
    EXPECT_GE(tall, 110);
    const std::size_t tics = figure.body.find("set cbtics ");
    ASSERT_NE(tics, std::string::npos);
    const double step = std::stod(figure.body.substr(figure.body.find(',', tics) + 1));
    const double lowest = number_after("set cbrange [");
    EXPECT_GE(tall * step / (1 - lowest), 20) << step;
    EXPECT_GE(number_after("set cbtics "), lowest);
  }
}

// On the report's page, which scrolls, all panels stand.
TEST(FiguresForPapers, FitAPageAndSayWhatTheyLeaveOut) {
  FakeReplay fake = small_fake();
  fake.specs.clear();
  for (const std::string policy : {"h2o", "tova", "random"}) {
    for (int i = 1; i <= 8; ++i) fake.specs.push_back(policy + ":sinks=" + std::to_string(i));
  }
  fake.budgets = {24};
  const ReplayResult result = fake_replay(fake);
  Sweep sweep = sweep_of(result);
  for (const auto& make : {residency_figure, inclusion_figure, attention_figure, heads_figure}) {
    sweep.page = Sheet().page();
    const Figure narrow = make(sweep);
    ASSERT_FALSE(narrow.body.empty());
    EXPECT_LE(static_cast<double>(narrow.height), sweep.page.height) << narrow.name;
    EXPECT_THAT(narrow.caption, ContainsRegex("Drawn: the first [0-9]+ of 24 policies that evict"));
    // Each panel that is drawn has its place, and the last row its x axis.
    EXPECT_EQ(count(narrow.body, "set lmargin"), count(narrow.body, "plot $")) << narrow.name;
    sweep.page = {};
    const Figure wide = make(sweep);
    if (wide.name == "attention") continue;  // whose panels are images of many pixels
    EXPECT_EQ(count(wide.body, "set lmargin"), 24U) << wide.name;
    EXPECT_THAT(wide.caption, Not(HasSubstr("Drawn:")));
  }
}

}  // namespace
}  // namespace kv::reports
