#include "kvcheck/reports/figures/figure_kills.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include "kvcheck/base/file.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/numbers/csv.h"
#include "kvcheck/reports/numbers/escape.h"

namespace kv::reports {
namespace {

// The shade of a cell shows how many cases the law took; statistical laws have a colour of their
// own. Blue and orange differ for every colour vision, and the blues differ in brightness too.
struct Shade {
  std::uint64_t most = 0;  // cases
  std::string_view colour;
  std::string_view words;
};

constexpr std::array<Shade, 4> shades = {{{1, "#08306b", "1 case"},
                                          {5, "#2e7ebc", "2 to 5"},
                                          {20, "#7db8da", "6 to 20"},
                                          {~std::uint64_t{0}, "#c1d9ed", "more"}}};
constexpr std::string_view statistics_colour = "#d95f02";
constexpr double cell = 9;          // pixels across and down
constexpr double character = 5.2;   // of the labels, mean width
constexpr double half_width = 0.4;  // of a cell, in cells

std::size_t shade_of(const KillMatrix& matrix, const MatrixKill& killed) {
  if (matrix.laws[killed.law].statistical) return shades.size();
  std::size_t shade = 0;
  while (killed.cases > shades[shade].most) ++shade;
  return shade;
}

std::string block(const std::string& name, const std::string& lines) {
  return "$" + name + " << EOD\n" + lines + "EOD\n";
}

// A separate line, drawn as a vector without a head. Lines of one look become one path of the SVG.
std::string dash(double x1, double y1, double x2, double y2) {
  return shortest(x1) + " " + shortest(y1) + " " + shortest(x2 - x1) + " " + shortest(y2 - y1) +
         "\n";
}

std::string_view group_of(std::string_view law) {
  return law.substr(0, law.find('.'));
}

// A faint line along each row and column, and one between groups of laws.
std::string guide_lines(const KillMatrix& matrix) {
  const auto columns = static_cast<double>(matrix.laws.size());
  std::string guides;
  for (std::size_t i = 1; i <= matrix.rows.size(); ++i) {
    guides += dash(0.5, static_cast<double>(i), columns + 0.5, static_cast<double>(i));
  }
  const double last = static_cast<double>(matrix.rows.size()) + 0.5;
  for (std::size_t i = 1; i <= matrix.laws.size(); ++i) {
    guides += dash(static_cast<double>(i), 0.5, static_cast<double>(i), last);
  }
  std::string groups;
  for (std::size_t i = 1; i < matrix.laws.size(); ++i) {
    if (group_of(matrix.laws[i].id) == group_of(matrix.laws[i - 1].id)) continue;
    const double x = static_cast<double>(i) + 0.5;
    groups += dash(x, 0.5, x, last);
  }
  return block("guides", guides) + block("groups", groups);
}

std::string cells(const KillMatrix& matrix) {
  std::array<std::string, shades.size() + 1> lines;
  for (std::size_t i = 0; i < matrix.rows.size(); ++i) {
    const double y = static_cast<double>(i) + 1;
    for (const MatrixKill& killed : matrix.rows[i].killed) {
      const double x = static_cast<double>(killed.law) + 1;
      lines[shade_of(matrix, killed)] += dash(x - half_width, y, x + half_width, y);
    }
  }
  std::string out;
  for (std::size_t shade = 0; shade < lines.size(); ++shade) {
    // An empty block is an error in gnuplot; a missing point is not.
    out += block("shade" + std::to_string(shade),
                 lines[shade].empty() ? "NaN NaN 0 0\n" : lines[shade]);
  }
  return out;
}

template <typename TextOf>
std::string tics(std::string_view axis, std::string_view how, std::size_t count, TextOf text_of) {
  std::string out = "set " + std::string(axis) + " " + std::string(how) + " (";
  for (std::size_t i = 0; i < count; ++i) {
    out += (i == 0 ? "" : ", ") + gnuplot_quoted(text_of(i)) + " " + std::to_string(i + 1);
  }
  return out + ")\n";
}

std::string axes(const KillMatrix& matrix) {
  std::vector<std::size_t> kills(matrix.laws.size());
  for (const MatrixRow& row : matrix.rows) {
    for (const MatrixKill& killed : row.killed) ++kills[killed.law];
  }
  const auto law = [&](std::size_t i) { return matrix.laws[i].id; };
  const auto mutant = [&](std::size_t i) { return matrix.rows[i].mutant; };
  const std::string font = " noenhanced font label_font textcolor rgb '#222222'";
  const std::string quiet = " noenhanced font label_font textcolor rgb '#777777'";
  const std::string small = " font label_font textcolor rgb '#777777'\n";
  return "set xlabel 'mutants that the law kills' offset 0,0.4" + small +
         "set y2label 'laws that kill the mutant' offset -0.8,0" + small +
         tics("x2tics", "scale 0 rotate by 90 left offset 0,0" + font, matrix.laws.size(), law) +
         tics("xtics", "scale 0 rotate by 90 right nomirror" + quiet, matrix.laws.size(),
              [&](std::size_t i) { return std::to_string(kills[i]); }) +
         tics("ytics", "scale 0 nomirror" + font, matrix.rows.size(), mutant) +
         tics("y2tics", "scale 0" + quiet, matrix.rows.size(),
              [&](std::size_t i) { return std::to_string(matrix.rows[i].killed.size()); });
}

std::string plots() {
  const auto line = [](const std::string& data, std::string_view colour, const std::string& width) {
    return "$" + data + " using 1:2:3:4 with vectors nohead lc rgb '" + std::string(colour) +
           "' lw " + width;
  };
  std::string out = "plot " + line("guides", "#ececec", "0.6") + " notitle, " +
                    line("groups", "#b0b0b0", "0.8") + " notitle";
  const std::string thick = shortest(std::floor(cell * 2 * half_width));
  for (std::size_t shade = 0; shade <= shades.size(); ++shade) {
    const bool statistics = shade == shades.size();
    out += ", " +
           line("shade" + std::to_string(shade),
                statistics ? statistics_colour : shades[shade].colour, thick) +
           " title '" + std::string(statistics ? "statistics" : shades[shade].words) + "'";
  }
  return out + "\n";
}

std::string csv_of(const KillMatrix& matrix) {
  std::string csv = "mutant,law,cases\n";
  for (const MatrixRow& row : matrix.rows) {
    for (const MatrixKill& killed : row.killed) {
      csv += csv_line(std::vector<std::string>{row.mutant, matrix.laws[killed.law].id,
                                               cases_text(matrix, killed)});
    }
  }
  return csv;
}

std::size_t pixels(double size) {
  return static_cast<std::size_t>(std::ceil(size));
}

// A margin, as a share of the whole.
std::string margin(const char* side, double part, std::size_t whole) {
  return "set " + std::string(side) + "margin at screen " +
         shortest(part / static_cast<double>(whole)) + "\n";
}

}  // namespace

Figure kill_matrix_figure(const KillMatrix& matrix) {
  Figure figure{.name = "kill-matrix", .title = "The kill matrix", .caption = {}};
  if (matrix.rows.empty() || matrix.laws.empty()) return figure;
  std::size_t longest_mutant = 0;
  std::size_t longest_law = 0;
  for (const MatrixRow& row : matrix.rows)
    longest_mutant = std::max(longest_mutant, row.mutant.size());
  for (const MatrixLaw& law : matrix.laws) longest_law = std::max(longest_law, law.id.size());
  const auto columns = static_cast<double>(matrix.laws.size());
  const auto rows = static_cast<double>(matrix.rows.size());
  const double left = 16 + character * static_cast<double>(longest_mutant);
  const double top = 40 + character * static_cast<double>(longest_law);
  figure.width = pixels(left + cell * columns + 52);
  figure.height = pixels(top + cell * rows + 44);
  const auto height = static_cast<double>(figure.height);
  figure.data = guide_lines(matrix) + cells(matrix);
  figure.csv = csv_of(matrix);
  figure.body =
      "label_font = (GPVAL_TERM eq 'svg') ? ',8.5' : ',6.5'\nset border 15 lc rgb '#b0b0b0' lw "
      "0.8\n" +
      axes(matrix) + margin("l", left, figure.width) +
      margin("r", left + cell * columns, figure.width) + margin("t", height - top, figure.height) +
      margin("b", height - top - cell * rows, figure.height) + "set key at screen 0.01," +
      shortest((height - 12) / height) +
      " left top Left reverse samplen 0.7 spacing 1 noenhanced font label_font "
      "title 'cases that it took' font title_font\n"
      "set xrange [0.5:" +
      shortest(columns + 0.5) + "]\nset x2range [0.5:" + shortest(columns + 0.5) +
      "]\nset yrange [" + shortest(rows + 0.5) + ":0.5]\nset y2range [" + shortest(rows + 0.5) +
      ":0.5]\n" + plots();
  figure.caption =
      "Mutants (down) and the laws (across) that kill them, by the cases that it took. " +
      kill_summary(matrix) +
      " Right: how many laws kill the mutant. Below: how many mutants the law kills.";
  return figure;
}

Result<void> draw_kill_matrix(const KillMatrix& matrix, const std::string& folder) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) return io_error("cannot make the folder '" + folder + "': " + failure.message());
  const Figure figure = kill_matrix_figure(matrix);
  const std::string base = folder + "/" + figure.name;
  if (auto done = write_file(base + ".csv", figure.csv); !done) return done;
  const std::string drawing = figure.body.empty() ? std::string() : figure.name + ".svg";
  if (auto done = write_file(base + ".md", kill_matrix_page(matrix, drawing)); !done) return done;
  return figure.body.empty() ? Result<void>() : draw(figure, folder);
}

}  // namespace kv::reports
