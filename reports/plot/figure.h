// A figure: a gnuplot script with its numbers, a caption, and the same numbers as CSV.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/reports/numbers/lines.h"

namespace kv::reports {

struct Figure {
  std::string name;         // of its files, without suffix
  std::string title;        // plain text, as the caption
  std::string caption;      // what was measured on what
  std::size_t width = 960;  // in CSS pixels; the PNG has twice as many
  std::size_t height = 400;
  std::string data{};  // gnuplot data blocks
  std::string body{};  // gnuplot commands, run once per terminal
  std::string csv{};   // the numbers that are drawn
};

// Writes NAME.svg and NAME.png into `folder`. Errors: gnuplot is not installed (not_found), cannot
// run or cannot draw the figure (unsupported, with its message), or nothing can be written in the
// folder (io).
Result<void> draw(const Figure& figure, const std::string& folder);

// A figure for print or a slide: one file of a width and a size of letters.
struct Sheet {
  enum class Format { pdf, svg, png };

  Format format = Format::pdf;
  double width_mm = 84;        // one column of a journal
  double height_mm = 226;      // at most: the text of a page of A4 or letter paper
  double letters_pt = 7;       // of legends and tics
  double dots_per_inch = 300;  // of a PNG

  // The room in which a figure is built so that its letters have that size on the sheet.
  [[nodiscard]] Page page() const;
};

// The gnuplot script that draws the figure on the sheet, with its numbers. It writes `file` in the
// current folder.
std::string sheet_script(const Figure& figure, const Sheet& sheet, const std::string& file);

// The bytes of that file. Errors: as draw().
Result<std::string> draw_sheet(const Figure& figure, const Sheet& sheet);

// The numbers of a figure: one gnuplot data block per policy, and all of them as one CSV.
class FigureData {
 public:
  // `columns` are those of the CSV after the first, which is the block's label. If the figure has
  // several panels with numbers of their own, the first of `columns` names the word of the panel.
  explicit FigureData(std::vector<std::string> columns);

  // Starts a block and returns its name. Its lines in the CSV begin with the label and, if the
  // figure has several panels with numbers of their own, with the word of the panel.
  std::string begin(std::string_view label, std::string_view panel = {});

  // Adds a line to the current block: one value for each column that begin() has not filled. NaN is
  // a gap in the plot and an empty field in the CSV.
  void row(const std::vector<double>& values);

  // The same for a place of a grid at which nothing is drawn; the CSV leaves it out.
  void empty_row(const std::vector<double>& values);

  // Ends a run of points that lines connect.
  void gap();

  // Moves the collected text into the figure.
  void finish(Figure& figure);

 private:
  void plot_row(const std::vector<double>& values);

  std::size_t columns_ = 0;
  std::size_t blocks_ = 0;
  std::vector<std::string> label_;
  std::string script_;
  std::string csv_;
};

}  // namespace kv::reports
