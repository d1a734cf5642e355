#include "kvcheck/reports/plot/heat_map.h"

#include <algorithm>
#include <cmath>

#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/numbers/escape.h"

namespace kv::reports {
namespace {

constexpr double bar_height = 120;  // that its title and tics need
constexpr double below_bar = 8;     // for half of a tic's number

// Tics from 1 down to no less than `lowest`, few enough for the bar.
std::string bar_tics(double lowest) {
  if (lowest <= 0) return "set cbtics 0,0.2,1\n";
  double step = std::pow(10.0, std::floor(std::log10(1 - lowest)));
  if ((1 - lowest) / step < 2) step /= 5;
  if ((1 - lowest) / step > 4) step *= 2;
  if ((1 - lowest) / step > 4) step *= 2.5;
  const double first = 1 - step * std::floor((1 - lowest) / step + 1e-9);
  return "set cbtics " + shortest(first) + "," + shortest(step) + ",1\n";
}

}  // namespace

std::string colour_bar(const Grid& grid, double lowest, const std::string& label) {
  const auto width = static_cast<double>(grid.width());
  const auto height = static_cast<double>(grid.height());
  const double tall =
      std::min(std::max(bar_height, grid.panel_height), height - grid.top - below_bar);
  return "set cbrange [" + shortest(lowest) + ":1]\nset cblabel " + gnuplot_quoted(label) +
         " offset 0.8\n" + bar_tics(lowest) + "set colorbox user origin screen " +
         shortest((width - bar_space + 12) / width) + "," +
         shortest((height - grid.top - tall) / height) + " size screen " + shortest(12 / width) +
         "," + shortest(tall / height) + "\n";
}

// Boxes, because gnuplot draws nothing for an image of one row or one column.
std::string coloured_cells(const std::string& block) {
  return block +
         " using 1:2:($1-0.5):($1+0.5):($2-0.5):($2+0.5):3 with boxxyerror"
         " lc palette lw 0.5 fill solid 1 border notitle";
}

}  // namespace kv::reports
