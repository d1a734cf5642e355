// Pieces of gnuplot text that figures share: axes, places on the page and looks.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "kvcheck/reports/plot/figure.h"
#include "kvcheck/reports/numbers/sweep.h"

namespace kv::reports {

// Thin grey axes on the left and below, outward ticks, no mirrored ones.
std::string plain_axes();

// "lc rgb '...' dt 1 lw 2", and with markers "... pt 7 ps 0.9".
std::string line_style(const Look& look);
std::string point_style(const Look& look);

// "set palette ...": dark to light, even in brightness, with any colour vision and in grey. Its
// stops are those of matplotlib's viridis (van der Walt and Smith, 2015, public domain).
std::string even_palette();

// Panels of equal size in rows, in CSS pixels.
struct Grid {
  std::size_t panels = 1;
  std::size_t columns = 1;
  double panel_width = 300;
  double panel_height = 250;
  double left = 100;    // for the y axis of the first column, with tics of six digits
  double right = 14;    // beside the last column
  double top = 30;      // above each row
  double bottom = 70;   // below the last row
  double gap = 26;      // between columns
  double row_gap = 14;  // between rows, beside `top`

  [[nodiscard]] std::size_t rows() const { return (panels + columns - 1) / columns; }

  [[nodiscard]] std::size_t width() const;
  [[nodiscard]] std::size_t height() const;

  // Margins for the i-th panel.
  [[nodiscard]] std::string place(std::size_t i) const;

  [[nodiscard]] bool first_in_row(std::size_t i) const { return i % columns == 0; }

  // Nothing is below the panel, so it shows its x axis.
  [[nodiscard]] bool lowest(std::size_t i) const { return i + columns >= panels; }
};

// Between columns that each have words beside their y axis.
inline constexpr double labelled_gap = 104;

// Small multiples: at most four columns, and no last row that is nearly empty.
Grid small_multiples(std::size_t panels, double panel_width, double panel_height);

// Light lines across, at the tics of the y axis.
std::string grid_lines();

// A panel's title, shortened to `pixels`.
std::string panel_title(const std::string& label, double pixels);

// Tics from 0 on at 1, 2 or 5 times a power of ten, about so many up to `top`.
std::string round_tics(char axis, double top, int most);

// The same for an axis that counts tokens, where a tic stands for a whole one.
std::string token_tics(char axis, std::size_t tokens, int most);

// "set xlabel 'x'" etc., with the labels empty where `show` is false.
std::string axis_label(char axis, bool show, const std::string& text);

// "TRACE, 512 tokens, 6 layers x 4 query heads"
std::string subject_of(const ReplayResult& result);

}  // namespace kv::reports
