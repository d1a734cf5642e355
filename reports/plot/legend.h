// Legends beside a figure's panels, drawn with labels and arrows at computed places. gnuplot's own
// key is not used: it guesses the width of its words, differently in each terminal, and cuts off
// what lies outside.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kvcheck/reports/plot/plot_text.h"

namespace kv::reports {

// The sign before a label.
enum class Swatch { line, line_and_marker };

// Makes room in the grid for one entry per line, and one for all quiet lines together, to the right
// of its panels and, if needed, below them. Returns the commands that draw the entries in columns
// from the top and unset the key. On a page of limited width (Grid::fit) they are below the
// panels, which become lower, and of which the last rows are given up, where its height is limited.
std::string add_legend(const std::vector<Line>& lines,
                       Grid& grid,
                       Swatch swatch = Swatch::line_and_marker);

// To be written after the first of several panels, so that the others do not draw the legend again.
inline constexpr std::string_view legend_done = "unset label\nunset arrow\n";

// An upper bound of the width of a legend's words, in CSS pixels.
double legend_text_width(std::string_view text);

}  // namespace kv::reports
