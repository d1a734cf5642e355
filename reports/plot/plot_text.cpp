#include "kvcheck/reports/plot/plot_text.h"

#include <algorithm>
#include <cmath>

#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/numbers/escape.h"
#include "kvcheck/reports/numbers/labels.h"
#include "kvcheck/sim/replay/replay.h"

namespace kv::reports {
namespace {

constexpr double title_character = 6.3;  // mean width of one in a panel's title, CSS pixels
constexpr double label_character = 7.6;  // the same in an axis's label

std::string fraction(double part, std::size_t whole) {
  return shortest(part / static_cast<double>(whole));
}

std::size_t columns_for(std::size_t panels) {
  if (panels <= 4) return std::max<std::size_t>(1, panels);
  return panels == 5 || panels == 6 || panels == 9 ? 3 : 4;
}

// 1, 2 or 5 times a power of ten, of which `most` or fewer make the span.
std::string tic_step(double span, int most) {
  double step = span > 0 ? std::pow(10.0, std::floor(std::log10(span / most))) : 1;
  for (const double factor : {2.0, 2.5, 2.0}) {
    if (span / step > most) step *= factor;
  }
  return shortest(step);
}

}  // namespace

std::string plain_axes() {
  return "set border 3 lc rgb '#444444' lw 1\n"
         "set tics nomirror out scale 0.5 textcolor rgb '#222222'\n"
         "set bars small\nset format '%g'\n"
         "set pointsize 0.7\n";
}

std::string even_palette() {
  return "set palette defined (0 '#440154', 1 '#472d7b', 2 '#3b528b', 3 '#2c728e', 4 '#21918c', "
         "5 '#28ae80', 6 '#5ec962', 7 '#addc30', 8 '#fde725')\n";
}

std::string line_style(const Look& look) {
  return " lc rgb '" + std::string(look.colour) + "' dt " + std::string(look.dash) + " lw 2";
}

std::string point_style(const Look& look) {
  return line_style(look) + " pt " + std::to_string(look.point) + " ps 0.8";
}

std::string curve_title(const std::string& label) {
  return " title " + gnuplot_quoted(label) + " noenhanced";
}

void Grid::fit(Page given) {
  if (given.width <= 0) return;
  constexpr double narrowest = 130;   // a panel whose tics have room
  constexpr double widest_left = 76;  // tics of four digits and the words beside them
  page = given;
  const double width = page.width;
  left = std::min(left, widest_left);
  gap = std::min(gap, widest_left);
  const double flat = panel_height / panel_width;
  const auto panel_of = [&](std::size_t n) {
    const auto many = static_cast<double>(n);
    return (width - left - right - (many - 1) * gap) / many;
  };
  while (columns > 1 && panel_of(columns) < narrowest) --columns;
  panel_width = std::max(narrowest, panel_of(columns));
  panel_height = std::min(panel_height, std::max(0.7, flat) * panel_width);
}

std::size_t Grid::keep_to_a_page() {
  const auto too_tall = [&] { return static_cast<double>(height()) > page.height; };
  while (page.height > 0 && rows() > 1 && too_tall()) panels = (rows() - 1) * columns;
  return panels;
}

void Grid::lower_to_a_page(double more, double lowest) {
  if (page.height <= 0) return;
  const auto room = [&] {
    const auto n = static_cast<double>(rows());
    return (page.height - more - bottom - n * top - (n - 1) * row_gap) / n;
  };
  while (may_end && rows() > 1 && room() < lowest) panels = (rows() - 1) * columns;
  panel_height = std::min(panel_height, std::max(lowest, room()));
}

std::size_t Grid::width() const {
  const auto n = static_cast<double>(columns);
  return static_cast<std::size_t>(left + right + n * panel_width + (n - 1) * gap);
}

std::size_t Grid::height() const {
  const auto n = static_cast<double>(rows());
  return static_cast<std::size_t>(bottom + n * (panel_height + top) + (n - 1) * row_gap);
}

std::string Grid::place(std::size_t i) const {
  const double x = left + static_cast<double>(i % columns) * (panel_width + gap);
  const std::size_t row = i / columns;
  const double above = static_cast<double>(row) * (panel_height + top + row_gap) + top;
  const double y = static_cast<double>(height()) - above;
  return "set lmargin at screen " + fraction(x, width()) + "\nset rmargin at screen " +
         fraction(x + panel_width, width()) + "\nset tmargin at screen " + fraction(y, height()) +
         "\nset bmargin at screen " + fraction(y - panel_height, height()) + "\n";
}

Grid small_multiples(std::size_t panels, double panel_width, double panel_height) {
  return {.panels = panels,
          .columns = columns_for(panels),
          .panel_width = panel_width,
          .panel_height = panel_height};
}

std::string drawn_of(std::size_t drawn, std::size_t policies) {
  if (drawn == policies) return "";
  return "Drawn: the first " + std::to_string(drawn) + " of " + std::to_string(policies) +
         " policies that evict. ";
}

std::string grid_lines() {
  return "set grid ytics lc rgb '#e4e4e4' lw 1\n";
}

std::string panel_title(const std::string& label, double pixels) {
  const auto width = static_cast<std::size_t>(pixels / title_character);
  return "set title " + gnuplot_quoted(shortened(label, width)) +
         " noenhanced font title_font offset 0,-0.7\n";
}

std::string left_out(const std::vector<std::string>& panels) {
  return panels.empty() ? "" : "Left out for want of room: " + join(panels, ", ") + ". ";
}

std::string round_tics(char axis, double top, int most) {
  return "set " + std::string(1, axis) + "tics 0," + tic_step(top, most) + "\n";
}

std::string share_tics(char axis, double lowest, int most) {
  const double span = 1 - lowest;
  const std::string tics = "set " + std::string(1, axis) + "tics ";
  return tics + (span > 0 && span <= 1 ? tic_step(span, most) : "autofreq") + "\n";
}

std::string token_tics(char axis, std::size_t tokens, int most) {
  return round_tics(axis, std::max(static_cast<double>(tokens), static_cast<double>(most)), most);
}

std::string query_axis(const Grid& grid, std::size_t tokens) {
  constexpr double apart = 45;  // numbers of four digits
  std::string label = axis_label(
      'x', true, fitting(grid.panel_width, {"position of the query, tokens", "position, tokens"}));
  if (grid.page.width <= 0) return label;
  return label + token_tics('x', tokens, std::max(2, static_cast<int>(grid.panel_width / apart)));
}

std::string budget_axis(const std::set<std::uint32_t>& budgets) {
  std::vector<std::string> words;
  double last = 0;
  for (const std::uint32_t budget : budgets) {
    if (budget < 1.25 * last) continue;
    last = budget;
    words.push_back(std::to_string(budget));
  }
  return "set xtics (" + join(words, ",") + ")\nset xrange [" + shortest(*budgets.begin() / 1.3) +
         ":" + shortest(*budgets.rbegin() * 1.3) + "]\n";
}

std::string axis_label(char axis, bool show, const std::string& text) {
  const std::string name(1, axis);
  if (!show) return "unset " + name + "label\nset format " + name + " ''\n";
  return "set " + name + "label " + gnuplot_quoted(text) + " noenhanced\nset format " + name +
         " '%g'\n";
}

std::string fitting(double pixels, const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    if (static_cast<double>(text.size()) * label_character <= pixels) return text;
  }
  return texts.back();
}

std::string fitting_ylabel(const Grid& grid, const std::vector<std::string>& texts) {
  return axis_label('y', true, fitting(grid.panel_height, texts));
}

std::string subject_of(const ReplayResult& result) {
  const TraceInfo& trace = result.trace;
  const std::string tokens = with_commas(trace.tokens) + " tokens";
  const std::string name = short_name(trace);
  return (name.ends_with(tokens) ? name : name + ", " + tokens) + ", " +
         std::to_string(trace.layers.size()) + (trace.layers.size() == 1 ? " layer" : " layers") +
         " of " + std::to_string(trace.query_heads) + " query heads";
}

}  // namespace kv::reports
