// Maps of coloured cells and the bar of their colours.
#pragma once

#include <string>

#include "kvcheck/reports/plot/plot_text.h"

namespace kv::reports {

// The room to the right of the panels that the bar needs (Grid::right).
inline constexpr double bar_space = 120;

// The scale of the colours from `lowest` to 1, and its bar with that label, right of the first
// row's panels.
std::string colour_bar(const Grid& grid, double lowest, const std::string& label);

// Cells of one unit around the places of a data block whose columns are x, y and the value.
std::string coloured_cells(const std::string& block);

}  // namespace kv::reports
