#include "kvcheck/reports/plot/legend.h"

#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/figures/figures.h"
#include "kvcheck/reports/plot/figure_names.h"
#include "kvcheck/sim/spec/spec.h"
#include "kvcheck/tests/reports/fake_replay.h"

namespace kv::reports {
namespace {

using testing::fake_replay;
using testing::read_text;
using testing::small_fake;
using testing::TemporaryFolder;

struct Words {
  std::string text;
  double left = 0;  // both in CSS pixels from the left upper corner
  double middle = 0;
};

// The labels that a figure sets at places of the screen, markers left out.
std::vector<Words> words_in(const std::string& body, double width, double height) {
  std::vector<Words> found;
  for (const std::string_view line : split(body, '\n')) {
    const std::string_view begin = "set label '";
    const std::size_t at = line.find("' at screen ");
    if (!line.starts_with(begin) || at == std::string_view::npos || at == begin.size()) continue;
    const std::string place(line.substr(at + 12));
    const std::string text(line.substr(begin.size(), at - begin.size()));
    found.push_back({.text = text,
                     .left = std::stod(place) * width,
                     .middle = (1 - std::stod(place.substr(place.find(',') + 1))) * height});
  }
  return found;
}

std::vector<Line> lines_of_length(std::size_t n, std::size_t length) {
  std::vector<Line> lines;
  for (std::size_t i = 0; i < n; ++i) {
    std::string label = std::to_string(100 + i);
    label.resize(length, 'w');
    lines.push_back(
        {.label = label, .policy = nullptr, .look = {.colour = "#000000"}, .specs = {}});
  }
  return lines;
}

// Nothing leaves the figure, and no two entries lie on each other.
void expect_room(const std::vector<Words>& all, double width, double height) {
  for (const Words& one : all) {
    const double right = one.left + legend_text_width(one.text);
    EXPECT_LE(right, width) << one.text;
    EXPECT_GE(one.middle, 10) << one.text;
    EXPECT_LE(one.middle, height - 10) << one.text;
    for (const Words& other : all) {
      if (&one == &other || std::abs(one.middle - other.middle) >= 18) continue;
      EXPECT_TRUE(right + 20 < other.left ||
                  other.left + legend_text_width(other.text) + 20 < one.left)
          << one.text << " and " << other.text;
    }
  }
}

TEST(Legend, HasAPlaceInTheFigureForEveryEntry) {
  for (const std::size_t n : {1U, 9U, 10U, 26U, 54U, 200U}) {
    for (const std::size_t length : {3U, 16U, 48U, 90U}) {
      Grid grid{.panel_width = 320, .panel_height = 300};
      const std::string text = add_legend(lines_of_length(n, length), grid);
      const auto width = static_cast<double>(grid.width());
      const auto height = static_cast<double>(grid.height());
      const std::vector<Words> all = words_in(text, width, height);
      EXPECT_EQ(all.size(), n);
      expect_room(all, width, height);
      for (const Words& one : all) EXPECT_GT(one.left, grid.left + grid.panel_width + 40);
    }
  }
}

TEST(Legend, LeavesThePanelsWhereTheyAre) {
  Grid small{.panels = 2, .columns = 2};
  Grid large = small;
  add_legend(lines_of_length(2, 10), small);
  add_legend(lines_of_length(80, 10), large);
  EXPECT_EQ(large.width() - static_cast<std::size_t>(large.right),
            small.width() - static_cast<std::size_t>(small.right));
  EXPECT_GT(large.height(), small.height());
  EXPECT_EQ(large.top, small.top);
}

TEST(Legend, TakesWideLettersForWiderThanNarrowOnes) {
  EXPECT_GT(legend_text_width("mmmm"), legend_text_width("aaaa"));
  EXPECT_GT(legend_text_width("aaaa"), legend_text_width("llll"));
  EXPECT_EQ(legend_text_width("\u00e4"), 14);
  EXPECT_EQ(legend_text_width(""), 0);
}

// In SVG too, where gnuplot joins neighbouring lines that differ in nothing but the dash.
TEST(Legend, ShowsTheDashOfEveryEntryOfOneColour) {
  Figure figure{.name = "dashes", .title = {}, .caption = {}};
  std::vector<Line> lines = lines_of_length(4, 5);
  const std::vector<std::string_view> dashes = {"(21,3)", "(22,3)", "(23,3)", "(24,3)"};
  for (std::size_t i = 0; i < lines.size(); ++i) lines[i].look.dash = dashes[i];
  Grid grid;
  figure.body = add_legend(lines, grid) + "plot [0:1][0:1] 0.5\n";
  figure.width = grid.width();
  figure.height = grid.height();
  const TemporaryFolder folder;
  ASSERT_TRUE(draw(figure, folder.path("")));
  const std::string svg = read_text(folder.path("dashes.svg"));
  for (const std::string dash : {"21.", "22.", "23.", "24."}) {
    EXPECT_NE(svg.find("stroke-dasharray='" + dash), std::string::npos) << dash;
  }
}

// Every figure with a legend shows all of it, once, in the drawing too.
TEST(Legend, IsWholeInEveryFigureOfManyPolicies) {
  testing::FakeReplay wide = small_fake();
  wide.tokens = 192;
  wide.specs.clear();
  for (int recent = 1; recent <= 54; ++recent) {
    wide.specs.push_back("h2o:recent=" + std::to_string(recent));
  }
  wide.budgets = {120, 128};
  const ReplayResult result = fake_replay(wide);
  const Sweep sweep = sweep_of(result);
  for (const auto make : {budget_figure, stream_figure, lifetime_figure}) {
    const Figure figure = make(sweep);
    const auto width = static_cast<double>(figure.width);
    const auto height = static_cast<double>(figure.height);
    const std::vector<Words> all = words_in(figure.body, width, height);
    EXPECT_EQ(all.size(), most_colours + 1) << figure.name;
    expect_room(all, width, height);
    const TemporaryFolder folder;
    const auto done = draw(figure, folder.path(""));
    ASSERT_TRUE(done) << done.error().message;
    const std::string svg = read_text(folder.path(figure.name + ".svg"));
    for (const Line& line : sweep.lines) {
      // Every curve has its words as a tooltip, once a panel; the highlighted ones an entry too.
      EXPECT_NE(svg.find("<title>" + line.label + "</title>"), std::string::npos) << line.label;
      const std::string words = ">" + line.label + "</text>";
      const std::size_t first = svg.find(words);
      EXPECT_EQ(first != std::string::npos, !line.look.quiet) << figure.name << " " << line.label;
      if (line.look.quiet) continue;
      EXPECT_EQ(svg.find(words, first + 1), std::string::npos) << figure.name << " " << line.label;
    }
    EXPECT_NE(svg.find(">47 others, see the table</text>"), std::string::npos) << figure.name;
  }
}

// A slide is 16:9. Panels become lower, and figures that can do without give up some.
TEST(Legend, LeavesAFigureOnItsSlide) {
  const Sheet slide{.width_mm = 240, .height_mm = 135, .letters_pt = 16};
  const ReplayResult result = fake_replay(small_fake());
  Sweep sweep = sweep_of(result);
  sweep.page = slide.page();
  for (const auto make : {budget_figure, stream_figure, sizes_figure, lifetime_figure}) {
    const Figure figure = make(sweep);
    EXPECT_LE(static_cast<double>(figure.height), sweep.page.height) << figure.name;
    EXPECT_GE(figure.height, 250U) << figure.name;
  }
  EXPECT_TRUE(budget_figure(sweep).caption.starts_with(
      "Left out for want of room: relative output error, top-k overlap. "))
      << budget_figure(sweep).caption;
  EXPECT_EQ(budget_figure(sweep).csv.find("output_error"), std::string::npos);
}

// Policies that are grey where there are many curves have colours where few are left.
TEST(SizesFigure, HasAColourForEachCurveOfOnePolicy) {
  testing::FakeReplay fake = small_fake();
  fake.specs = {
      "window",  "h2o",  "tova", "fifo", "lru", "random", "streaming:sinks=4", "reservoir:sinks=4",
      "chunkkv", "pages"};
  fake.budgets = {32};
  ReplayResult result = fake_replay(fake);
  for (CellResult& cell : result.cells) {
    const std::string_view name = cell.cell.spec.policy->name;
    for (SeriesPoint& point : cell.series) {
      point.stored = name == "chunkkv" ? 40 : name == "pages" ? 48 : 32;
      point.visible = point.stored;
    }
    for (HeadResult& head : cell.heads) {
      head.metrics.retained_mass = name == "chunkkv" || name == "pages" ? 0.1 : 0.9;
    }
  }
  const Figure figure = sizes_figure(sweep_of(result));
  EXPECT_EQ(figure.body.find("#c4c4c4"), std::string::npos) << figure.body;
  EXPECT_NE(figure.body.find("window and 7 others"), std::string::npos) << figure.body;
  EXPECT_NE(figure.body.find("#666666"), std::string::npos);
  EXPECT_NE(figure.body.find("#e69f00"), std::string::npos);
  EXPECT_NE(figure.body.find("#56b4e9"), std::string::npos);
}

// A colour of a user's file may be that of another policy.
TEST(Rename, LeavesEachLineAColourOfItsOwn) {
  const std::vector<Spec> specs = {parse_spec("window").value(), parse_spec("h2o").value(),
                                   parse_spec("tova").value()};
  const std::vector<std::string> labels = {"window", "h2o", "tova"};
  std::vector<Line> lines = lines_of(specs, labels);
  const FigureName given{
      .words = "h2o", .name = "H2O", .colour = std::string(lines[0].look.colour)};
  rename(
      lines, [&](const Spec& spec) { return spec == specs[1] ? &given : nullptr; },
      [&](std::size_t i) -> const Spec& { return specs[i]; });
  EXPECT_EQ(lines[1].label, "H2O");
  EXPECT_EQ(lines[1].look.colour, given.colour);
  EXPECT_NE(lines[0].look.colour, given.colour);
  EXPECT_NE(lines[0].look.colour, lines[2].look.colour);
  EXPECT_EQ(lines[2].look.colour, look_of(specs[2].policy, 0).colour);
}

}  // namespace
}  // namespace kv::reports
