// Lines: the specs of a report by label, how each line is drawn, and in what room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kv {
struct PolicyEntry;
struct Spec;
}  // namespace kv

namespace kv::reports {

// The room for a figure, in CSS pixels of a page on which its letters have the size that they have
// on a screen. 0: as much as it needs.
struct Page {
  double width = 0;   // which the figure takes (Grid::fit)
  double height = 0;  // the most that a figure of many panels takes (Grid::keep_to_a_page)
};

// How a policy is drawn; the same in every figure.
struct Look {
  std::string_view colour;      // "#0072b2"
  std::string_view dash = "1";  // gnuplot's dashtype
  int point = 7;                // gnuplot's pointtype
  bool quiet = false;           // grey, so that the other lines stand out
};

// The look of a policy. Its place in the registry decides the colour and the marker. `variant`, the
// number of earlier lines of the same policy with other options, decides the dash and changes the
// marker; the first twelve variants have different ones. Colours are those of Okabe and Ito, which
// can be distinguished with any colour vision; the yellow is darkened for a white background.
Look look_of(const PolicyEntry* policy, std::size_t variant);

// All specs with one label: the same policy and options under different budgets.
struct Line {
  std::string label;
  const PolicyEntry* policy = nullptr;
  Look look;
  std::vector<std::size_t> specs;  // indices into the list of specs, by budget
};

// The lines of the specs, one per label, in the order in which the specs are given. The `specs` of
// a line are indices into both lists, which have one length.
std::vector<Line> lines_of(std::span<const Spec> specs, std::span<const std::string> labels);

// As many curves as one plot shows clearly, besides that of a cache that evicts nothing.
inline constexpr std::size_t most_colours = 7;

// If there are more lines than that: those with the highest scores get a colour each, the one that
// evicts nothing is black, and the others become quiet. NaN counts as the lowest. `scores` has
// one number per line.
void highlight(std::vector<Line>& lines, std::span<const double> scores);

// Gives lines that have the colour of one of `given`, and are not given themselves, a colour that
// no line has, as long as there are such colours. Quiet lines remain grey.
void recolour_others(std::vector<Line>& lines, const std::vector<bool>& given);

// A colour that is not among `used`, and not that of the cache that evicts nothing; empty if there
// is none.
std::string_view free_colour(std::span<const std::string_view> used);

// The lines with the quiet ones first, so that the others are drawn over them.
std::vector<Line> in_drawing_order(const std::vector<Line>& lines);

// The middle one of the budgets that most specs have; 0 if no spec has a budget.
std::uint32_t middle_budget(std::span<const Spec> specs);

}  // namespace kv::reports
