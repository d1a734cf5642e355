#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/figures/figures.h"
#include "kvcheck/tests/reports/fake_replay.h"

namespace kv::reports {
namespace {

using testing::fake_replay;
using testing::FakeReplay;
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

}  // namespace
}  // namespace kv::reports
