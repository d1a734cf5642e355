// Pieces of gnuplot text that figures share: axes, places on the page and looks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "kvcheck/reports/numbers/lines.h"
#include "kvcheck/reports/plot/figure.h"

namespace kv {
struct ReplayResult;
}

namespace kv::reports {

// Thin grey axes on the left and below, outward ticks, no mirrored ones.
std::string plain_axes();

// "lc rgb '...' dt 1 lw 2", and with markers "... pt 7 ps 0.9".
std::string line_style(const Look& look);
std::string point_style(const Look& look);

// " title 'LABEL' noenhanced": the words that an SVG shows over the curve. The legend does not show
// them, because add_legend() draws its own.
std::string curve_title(const std::string& label);

// "set palette ...": from dark to light in even steps of brightness, for any colour vision and in
// grey. Its stops are those of matplotlib's viridis (van der Walt and Smith, 2015, public domain).
std::string even_palette();

// Panels of equal size in rows, in CSS pixels.
struct Grid {
  std::size_t panels = 1;
  std::size_t columns = 1;
  double panel_width = 300;
  double panel_height = 250;
  double left = 100;     // for the y axis of the first column, with tics of six digits
  double right = 24;     // beside the last column, for half of a tic of four digits
  double top = 30;       // above each row
  double bottom = 70;    // below the last row
  double gap = 26;       // between columns
  double row_gap = 14;   // between rows, beside `top`
  Page page{};           // that fit() was given
  bool may_end = false;  // whether the figure can do without its last panels

  // Divides the width of a page among as many columns as have room, and puts the legend that is
  // added later below the panels. Changes nothing if a page has no width.
  void fit(Page page);

  // Gives up the last rows of panels until the page is high enough, but not the first row. Returns
  // how many panels are left.
  std::size_t keep_to_a_page();

  // Makes panels lower, but not below `lowest`, until a page of limited height has room for them
  // and `more` below them, and then gives up their last rows, if the figure can do without.
  void lower_to_a_page(double more, double lowest = 110);

  [[nodiscard]] std::size_t rows() const { return (panels + columns - 1) / columns; }

  [[nodiscard]] std::size_t width() const;
  [[nodiscard]] std::size_t height() const;

  // The commands that set the margins of the i-th panel.
  [[nodiscard]] std::string place(std::size_t i) const;

  [[nodiscard]] bool first_in_row(std::size_t i) const { return i % columns == 0; }

  // Whether no panel is below the i-th, so that it shows its x axis.
  [[nodiscard]] bool lowest(std::size_t i) const { return i + columns >= panels; }
};

// The gap between columns that each have words beside their y axis.
inline constexpr double labelled_gap = 104;

// A grid of small multiples: at most four columns, and no nearly empty last row.
Grid small_multiples(std::size_t panels, double panel_width, double panel_height);

// What a caption says about panels that were left out: "Drawn: the first 3 of 9 policies that
// evict. ", and nothing if there are none.
std::string drawn_of(std::size_t drawn, std::size_t policies);

// What a caption says about panels of other numbers that were left out; nothing if there are none.
std::string left_out(const std::vector<std::string>& panels);

// Light horizontal lines at the tics of the y axis.
std::string grid_lines();

// A panel's title, shortened to a width of `pixels`.
std::string panel_title(const std::string& label, double pixels);

// Tics from 0 to `top` in steps of 1, 2 or 5 times a power of ten, about `most` of them.
std::string round_tics(char axis, double top, int most);

// About `most` tics of an axis of shares from `lowest`, or a little below, up to 1, and those of a
// y axis of other numbers after it. gnuplot would put ten on any height.
std::string share_tics(char axis, double lowest, int most = 5);
inline constexpr std::string_view automatic_tics = "set ytics autofreq\n";

// As round_tics for an axis that counts tokens, with tics at whole tokens only.
std::string token_tics(char axis, std::size_t tokens, int most);

// The label of an x axis of the queries' positions, of which `tokens` are shown. On a page of
// limited width its words fit a panel of the grid and its tics are so far apart that they do not
// touch.
std::string query_axis(const Grid& grid, std::size_t tokens);

// An x axis with a tic at each budget that is at least a quarter above the tic before it, and some
// room on both sides. Requires at least one budget.
std::string budget_axis(const std::set<std::uint32_t>& budgets);

// "set xlabel 'x'" etc., with the labels empty where `show` is false.
std::string axis_label(char axis, bool show, const std::string& text);

// The first of the texts that fits `pixels`, else the last: words for wide and for narrow axes.
std::string fitting(double pixels, const std::vector<std::string>& texts);

// "set ylabel '...'" with the first of the texts that is no longer than the panels are high.
std::string fitting_ylabel(const Grid& grid, const std::vector<std::string>& texts);

// "TRACE, 512 tokens, 6 layers x 4 query heads"
std::string subject_of(const ReplayResult& result);

}  // namespace kv::reports
