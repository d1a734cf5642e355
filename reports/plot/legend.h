// Legends beside a figure's panels, drawn with labels and arrows at places of our own: gnuplot's
// key guesses the width of its words and cuts off what then lies outside, in each terminal anew.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kvcheck/reports/plot/plot_text.h"

namespace kv::reports {

// What stands before a label.
enum class Swatch { line, line_and_marker };

// Makes room in the grid, to the right of its panels and where needed below them, for one entry of
// each line, and gives the commands that draw them all, in columns from the top. The key is unset.
std::string add_legend(const std::vector<Line>& lines,
                       Grid& grid,
                       Swatch swatch = Swatch::line_and_marker);

// After the first panel of several, so that the others do not draw the legend over again.
inline constexpr std::string_view legend_done = "unset label\nunset arrow\n";

// An upper bound of the width of a legend's words, in CSS pixels.
double legend_text_width(std::string_view text);

}  // namespace kv::reports
