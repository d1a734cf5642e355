#include "kvcheck/reports/plot/legend.h"

#include <algorithm>

#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/numbers/escape.h"

namespace kv::reports {
namespace {

constexpr double font_size = 14;  // of both terminals, CSS pixels
constexpr std::size_t longest = 48;
constexpr double line_height = 22;
constexpr double swatch_width = 34;
constexpr double before_words = 42;  // from the swatch's left end
constexpr double between = 18;       // a column's words and the next one's swatches
constexpr double beside = 24;        // the panels and the first column, for a tic's label
constexpr double below = 8;          // the last entry
constexpr double widest = 700;       // all columns; what needs more is set in fewer, longer ones

struct Layout {
  std::size_t rows = 1;
  std::size_t columns = 1;
  double column_width = 0;
};

std::string words_of(const Line& line) {
  return shortened(line.label, longest);
}

Layout layout_of(const std::vector<Line>& lines, const Grid& grid) {
  Layout layout{.column_width = before_words + between};
  for (const Line& line : lines) {
    const double width = before_words + legend_text_width(words_of(line)) + between;
    layout.column_width = std::max(layout.column_width, width);
  }
  const auto height = static_cast<double>(grid.height());
  const double fitting = std::max(1.0, (height - grid.top - below) / line_height);
  const auto fit = static_cast<std::size_t>(fitting);
  const auto most = static_cast<std::size_t>(std::max(1.0, widest / layout.column_width));
  const std::size_t n = std::max<std::size_t>(1, lines.size());
  layout.columns = std::min((n + fit - 1) / fit, most);
  layout.rows = (n + layout.columns - 1) / layout.columns;
  return layout;
}

// One entry. Its swatch begins at x and its middle is at y, both measured from the figure's upper
// left corner.
std::string entry(const Line& line, const Grid& grid, Swatch swatch, double x, double y, bool odd) {
  const auto at = [&](double right) {
    return "screen " + shortest(right / static_cast<double>(grid.width())) + "," +
           shortest(1 - y / static_cast<double>(grid.height()));
  };
  // Neighbours of one colour and width would get one dash: gnuplot draws them as one path of SVG.
  const std::string lines = " lc rgb '" + std::string(line.look.colour) + "' dt " +
                            std::string(line.look.dash) + (odd ? " lw 2.01\n" : " lw 2\n");
  const std::string marker = "set label '' at " + at(x + swatch_width / 2) + " point" +
                             " lc rgb '" + std::string(line.look.colour) + "' lw 2 pt " +
                             std::to_string(line.look.point) + " ps 0.8\n";
  return "set arrow from " + at(x) + " to " + at(x + swatch_width) + " nohead" + lines +
         (swatch == Swatch::line ? "" : marker) + "set label " + gnuplot_quoted(words_of(line)) +
         " at " + at(x + before_words) + " left noenhanced\n";
}

// An upper bound in ems: the width in DejaVu Sans, the widest of the usual fonts without serifs.
double ems(unsigned char c) {
  constexpr std::string_view narrow = "ijlIJftr !'(),-./:;[]|";
  constexpr std::string_view wide = "mwMW#%&+<=>@^~";
  if (c >= 0x80) return c >= 0xc0 ? 1 : 0;  // counted at the first byte of a character
  if (narrow.find(static_cast<char>(c)) != std::string_view::npos) return 0.42;
  if (wide.find(static_cast<char>(c)) != std::string_view::npos) return 1;
  return c >= 'A' && c <= 'Z' ? 0.79 : 0.64;
}

// The lines that have an entry: quiet ones share the last. Without a table nothing names them.
std::vector<Line> entries_of(const std::vector<Line>& all, bool has_table) {
  std::vector<Line> entries;
  std::size_t quiet = 0;
  Line others;
  for (const Line& line : all) {
    if (!line.look.quiet) {
      entries.push_back(line);
      continue;
    }
    others = line;
    ++quiet;
  }
  if (quiet == 1) entries.push_back(others);
  if (quiet < 2) return entries;
  others.label = std::to_string(quiet) + (has_table ? " others, see the table" : " others");
  entries.push_back(others);
  return entries;
}

}  // namespace

double legend_text_width(std::string_view text) {
  double width = 0;
  for (const char c : text) width += ems(static_cast<unsigned char>(c));
  return font_size * width;
}

std::string add_legend(const std::vector<Line>& all, Grid& grid, Swatch swatch) {
  // A page of limited width is that of a paper.
  const std::vector<Line> lines = entries_of(all, grid.page.width <= 0);
  Layout layout = layout_of(lines, grid);
  double left = 0;
  double top = grid.top;
  if (grid.page.width > 0) {
    left = between;
    const double room = (grid.page.width - left) / layout.column_width;
    layout.columns = static_cast<std::size_t>(std::max(1.0, room));
    layout.rows = (std::max<std::size_t>(1, lines.size()) + layout.columns - 1) / layout.columns;
    const double needed = static_cast<double>(layout.rows) * line_height + below;
    grid.lower_to_a_page(needed);
    top = static_cast<double>(grid.height());
    grid.bottom += needed;
  } else {
    grid.right = beside + static_cast<double>(layout.columns) * layout.column_width;
    const double needed = grid.top + static_cast<double>(layout.rows) * line_height + below;
    grid.bottom += std::max(0.0, needed - static_cast<double>(grid.height()));
    left = static_cast<double>(grid.width()) - grid.right + beside;
  }
  std::string text = "unset key\n";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::size_t column = i / layout.rows;
    const std::size_t row = i % layout.rows;
    text += entry(lines[i], grid, swatch, left + static_cast<double>(column) * layout.column_width,
                  top + (static_cast<double>(row) + 0.5) * line_height, i % 2 == 1);
  }
  return text;
}

}  // namespace kv::reports
