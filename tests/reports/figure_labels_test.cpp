// Words beside the axes of figures that are laid out for a page.
#include <regex>

#include "kvcheck/reports/figures/figure_closed_loop.h"
#include "kvcheck/reports/figures/figure_tasks.h"
#include "kvcheck/reports/figures/figure_timing.h"
#include "kvcheck/reports/figures/figures.h"
#include "kvcheck/reports/plot/figure.h"
#include "kvcheck/reports/plot/plot_text.h"
#include "kvcheck/tests/reports/fake_replay.h"
#include "kvcheck/tests/reports/fake_results.h"

namespace kv::reports {
namespace {

// For each label of a y axis: its words, and the height of the panel that was placed before it.
std::vector<std::pair<std::string, double>> labels_in(const Figure& figure) {
  const std::regex command(
      "set (tmargin at screen ([0-9.e-]+)|bmargin at screen ([0-9.e-]+)|ylabel '([^']*)')");
  std::vector<std::pair<std::string, double>> labels;
  double top = 1;
  double bottom = 0;
  const std::sregex_iterator none;
  for (std::sregex_iterator at(figure.body.begin(), figure.body.end(), command); at != none; ++at) {
    const std::smatch& match = *at;
    if (match[2].matched) top = std::stod(match[2]);
    if (match[3].matched) bottom = std::stod(match[3]);
    if (!match[4].matched) continue;
    labels.emplace_back(match[4], (top - bottom) * static_cast<double>(figure.height));
  }
  return labels;
}

TEST(FigureLabels, OfAColumnOfAJournalAreNoLongerThanTheirPanel) {
  constexpr double letter = 7.6;
  constexpr double around = 61;  // of a panel of sizes, above which no other one is
  const Page page = Sheet().page();
  std::vector<Figure> figures = figures_of(testing::fake_replay(testing::small_fake()), page);
  for (Figure& figure : closed_loop_figures(testing::fake_evaluation(512, true), page)) {
    figures.push_back(std::move(figure));
  }
  figures.push_back(timing_figure(testing::fake_timing(), page));
  for (Figure& figure : task_figures(testing::fake_tasks(), page)) {
    figures.push_back(std::move(figure));
  }
  std::size_t labels = 0;
  for (const Figure& figure : figures) {
    for (const auto& [words, height] : labels_in(figure)) {
      const double room = height + (figure.name == "sizes" ? around : 0);
      EXPECT_LE(static_cast<double>(words.size()) * letter, room) << figure.name << ": " << words;
      ++labels;
    }
  }
  EXPECT_GE(labels, 12U);
}

TEST(FigureLabels, AreTheLongOnesWhereTheyFit) {
  Grid grid{.panel_height = 80};
  const std::vector<std::string> words = {"lost mass, 1 - retained", "lost mass"};
  EXPECT_EQ(fitting_ylabel(grid, words), axis_label('y', true, "lost mass"));
  grid.panel_height = 200;
  EXPECT_EQ(fitting_ylabel(grid, words), axis_label('y', true, "lost mass, 1 - retained"));
}

}  // namespace
}  // namespace kv::reports
