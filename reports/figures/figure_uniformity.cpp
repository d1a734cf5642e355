#include "kvcheck/reports/figures/figure_uniformity.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "kvcheck/base/file.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/numbers/escape.h"
#include "kvcheck/reports/numbers/labels.h"
#include "kvcheck/reports/plot/plot_text.h"

namespace kv::reports {
namespace {

constexpr std::size_t most_points = 512;
constexpr std::size_t most_cells = 64;  // along each side of the pair matrix

std::string label_at(const std::string& words) {
  return "set title " + ("'" + words + "'") + " noenhanced font title_font\n";
}

std::string quoted_label(const UniformityPlot& plot) {
  std::string text = plot.label;
  std::erase(text, '\'');
  return text;
}

std::string what_was_run(const UniformityPlot& plot) {
  return with_commas(plot.streams) + " streams of " + quoted_label(plot) + ", " +
         with_commas(plot.kept.size()) + " tokens entered the middle, " +
         std::to_string(plot.capacity) + " are kept";
}

// The mean over the pairs i < j of a cell of the matrix that begins at `first_i` and `first_j`; NaN
// if it has no pairs.
double mean_ratio(const UniformityPlot& plot,
                  std::size_t first_i,
                  std::size_t first_j,
                  std::size_t width) {
  const std::size_t n = plot.kept.size();
  double sum = 0;
  std::size_t pairs = 0;
  for (std::size_t i = first_i; i < std::min(n, first_i + width); ++i) {
    for (std::size_t j = std::max(i + 1, first_j); j < std::min(n, first_j + width); ++j) {
      sum += plot.pair_ratio[i * n + j];
      ++pairs;
    }
  }
  return pairs == 0 ? std::nan("") : sum / static_cast<double>(pairs);
}

}  // namespace

Figure uniformity_inclusion_figure(const UniformityPlot& plot) {
  Figure figure{.name = "uniformity-inclusion",
                .title = "Inclusion by position",
                .caption = {},
                .width = 860,
                .height = 400};
  const std::size_t n = plot.kept.size();
  const double expected = static_cast<double>(plot.capacity) / static_cast<double>(n);
  const std::size_t width = (n + most_points - 1) / most_points;
  FigureData data({"position", "share", "expected", "band_low", "band_high"});
  const std::string points = data.begin(plot.label);
  double highest = expected + plot.band;
  for (std::size_t begin = 0, end = 0; begin < n; begin = end) {
    end = n - begin < 2 * width ? n : begin + width;
    std::uint64_t hits = 0;
    for (std::size_t i = begin; i < end; ++i) hits += plot.kept[i];
    const double share = static_cast<double>(hits) / static_cast<double>(plot.streams) /
                         static_cast<double>(end - begin);
    // The mean of neighbours varies less than one share. Their covariance is that of a sample of k
    // out of n.
    const auto size = static_cast<double>(end - begin);
    const auto all = static_cast<double>(n);
    const double band = plot.band * std::sqrt((all - size) / ((all - 1) * size));
    data.row({plot.first_position + static_cast<double>(begin + end - 1) / 2, share, expected,
              std::max(0.0, expected - band), std::min(1.0, expected + band)});
    highest = std::max(highest, share);
  }
  data.finish(figure);
  const auto first = static_cast<double>(plot.first_position);
  figure.body = plain_axes() + label_at(what_was_run(plot)) +
                "set lmargin 9\nset rmargin 3\nset key top center horizontal maxrows 1 samplen 2 "
                "width 2 noenhanced\nset tmargin 3\n"
                "set xlabel 'position in the stream'\nset ylabel 'share of streams "
                "that keep it'\n"
                "set xrange [" +
                shortest(first - 0.5) + ":" + shortest(first + static_cast<double>(n) - 0.5) +
                "]\nset yrange [0:" + shortest(1.25 * highest) + "]\n" + "plot " + points +
                " using 1:4:5 with filledcurves lc rgb '#c9ddf0' title "
                "'95 % band', " +
                points + " using 1:3 with lines lc rgb '#444444' lw 1.2 title 'uniform', " +
                points + " using 1:2 with " + (n <= 128 ? "points pt 7 ps 0.6" : "lines lw 1.2") +
                " lc rgb '#b2182b' title 'counted'\n";
  figure.caption =
      "Share of streams in which each position was still in the middle at the end, of " +
      what_was_run(plot) +
      ". Band: where all shares lie together with at least 95 % under the uniform law "
      "(Bonferroni over positions).";
  return figure;
}

Figure uniformity_pairs_figure(const UniformityPlot& plot) {
  Figure figure{.name = "uniformity-pairs",
                .title = "Pairs kept together",
                .caption = {},
                .width = 540,
                .height = 440};
  const std::size_t n = plot.kept.size();
  if (plot.pair_ratio.size() != n * n || n == 0) return figure;
  FigureData data({"position_a", "position_b", "ratio"});
  const std::string block = data.begin(plot.label);
  double farthest = 0.05;
  const std::size_t width = (n + most_cells - 1) / most_cells;
  const std::size_t cells = (n + width - 1) / width;
  const double half = static_cast<double>(width - 1) / 2;
  for (std::size_t i = 0; i < cells; ++i) {
    for (std::size_t j = 0; j < cells; ++j) {
      const double ratio = mean_ratio(plot, i * width, j * width, width);
      const std::vector<double> row = {plot.first_position + static_cast<double>(j * width) + half,
                                       plot.first_position + static_cast<double>(i * width) + half,
                                       ratio};
      if (std::isnan(ratio)) {
        data.empty_row(row);
      } else {
        data.row(row);
        farthest = std::max(farthest, std::abs(ratio - 1));
      }
    }
  }
  data.finish(figure);
  farthest = std::min(1.0, farthest);
  const double first = plot.first_position - 0.5;
  const double last = first + static_cast<double>(cells * width);
  figure.body =
      plain_axes() + "set border 15\nunset key\n" + label_at(quoted_label(plot)) +
      "set palette defined (0 '#2166ac', 1 '#92c5de', 2 '#f7f7f7', 3 '#f4a582', 4 '#b2182b')\n"
      "set cbrange [" +
      shortest(1 - farthest) + ":" + shortest(1 + farthest) +
      "]\nset cblabel 'kept together, times what is expected'\n"
      "set lmargin 9\nset rmargin 13\nset tmargin 2.5\nset bmargin 3.5\n"
      "set size ratio 1\nset xlabel 'position'\nset ylabel 'position'\n"
      "set xrange [" +
      shortest(first) + ":" + shortest(last) + "]\nset yrange [" + shortest(last) + ":" +
      shortest(first) + "]\nplot " + block + " using 1:2:3 with image pixels notitle\n";
  figure.caption = "How often each pair of positions is kept together, over k(k-1)/(n(n-1)), in " +
                   what_was_run(plot) +
                   (width == 1 ? ""
                               : ". Each cell is the mean over " + std::to_string(width) + " by " +
                                     std::to_string(width) + " positions") +
                   ". Colours end at what the farthest pair shows, 2 at most.";
  return figure;
}

Result<void> draw_uniformity(const UniformityPlot& plot, const std::string& folder) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) return io_error("cannot make the folder '" + folder + "': " + failure.message());
  for (const Figure& figure : {uniformity_inclusion_figure(plot), uniformity_pairs_figure(plot)}) {
    if (figure.body.empty()) continue;
    if (auto done = write_file(folder + "/" + figure.name + ".csv", figure.csv); !done) return done;
    if (auto done = draw(figure, folder); !done) return done;
  }
  return {};
}

}  // namespace kv::reports
