#include "kvcheck/cli/evidence/uniformity_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <ostream>
#include <span>

#include "kvcheck/base/text/json_text.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/cli/options/wrap.h"
#include "kvcheck/properties/output/result_writers.h"
#include "kvcheck/properties/statistics/tail.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv::cli {
namespace {

std::string padded(std::string text, std::size_t width, bool right = false) {
  if (text.size() >= width) return text;
  const std::string blanks(width - text.size(), ' ');
  return right ? blanks + text : text + blanks;
}

std::string plain_p(double p) {
  std::string text = properties::p_text(p);
  return text.starts_with("p = ") ? text.substr(4) : text.substr(2);
}

// Statistics of ten thousands of degrees of freedom are read beside these: whole numbers from 100
// on, without an exponent while the column has room.
std::string statistic_text(double value) {
  if (value < 100 || value >= 1e9) return properties::number_text(value);
  return std::to_string(std::llround(value));
}

void print_statistics(std::span<const properties::Statistic> statistics, std::ostream& out) {
  out << "  test         value  freedom           p     rejects below  would see  verdict\n";
  for (const properties::Statistic& statistic : statistics) {
    out << "  " << padded(statistic.name, 8) << padded(statistic_text(statistic.value), 10, true)
        << padded(statistic.freedom > 0 ? statistic_text(statistic.freedom) : "", 9, true)
        << padded(plain_p(statistic.p), 12, true)
        << padded(properties::number_text(statistic.level), 18, true)
        << padded(properties::percent_text(statistic.detectable), 11, true)
        << (statistic.rejected ? "  rejected" : "  holds") << "\n";
  }
}

std::string array_of(std::span<const std::uint64_t> counts) {
  std::string text = "[";
  for (std::size_t i = 0; i < counts.size(); ++i) {
    text += (i == 0 ? "" : ",") + std::to_string(counts[i]);
  }
  return text + "]";
}

}  // namespace

// Labels leave the budget out.
Sampled sampled_by(const Spec& spec) {
  return {spec.label() + " at budget " + std::to_string(spec.budget), spec.canonical(), spec.sinks};
}

void print_uniformity(const Sampled& sampled,
                      const properties::UniformityResult& report,
                      std::ostream& out) {
  const properties::Shape& shape = report.counts.shape();
  out << sampled.title << ": " << report.counts.streams() << " streams of " << report.tokens
      << " tokens; " << shape.n << " entered the middle, " << shape.k << " are kept; seed "
      << report.seed << "\n\n";
  print_statistics(report.statistics, out);
  out << "\nEffects, with intervals that hold for all tokens of a test at once (95 %):\n";
  for (const properties::Statistic& statistic : report.statistics) {
    if (statistic.effect.empty()) continue;
    out << definition(statistic.name, statistic.effect, {.indent = 2, .column = 12});
  }
  if (report.counts.reported() == 0) {
    out << "\nSeveral tokens were evicted at a time, so TA and TE could not be counted.\n";
  }
  if (!report.smallest.empty()) {
    out << "\n" << definition("smallest", report.smallest, {.indent = 0, .column = 10});
  }
  if (!report.witness.empty()) {
    out << definition("witness", report.witness, {.indent = 0, .column = 10});
  }
  out << "\n" << report.sentence << "\n";
}

std::string uniformity_json(const Sampled& sampled, const properties::UniformityResult& report) {
  const properties::Counts& counts = report.counts;
  const properties::Shape& shape = counts.shape();
  JsonObject json;
  json.add("spec", sampled.name)
      .add("tokens", std::uint64_t{report.tokens})
      .add("trials", counts.streams())
      .add("seed", report.seed)
      .add("entered", std::uint64_t{shape.n})
      .add("capacity", std::uint64_t{shape.k})
      .add("first_position", std::uint64_t{sampled.first_position})
      .add("uniform", report.uniform)
      .add("sentence", report.sentence)
      .add("family_error", 1e-9)
      .add_raw("statistics", properties::statistics_json(report.statistics))
      .add("smallest", report.smallest)
      .add_raw("ladder", properties::statistics_json(report.ladder))
      .add("witness", report.witness)
      .add("expected_share", static_cast<double>(shape.k) / static_cast<double>(shape.n))
      .add("band", report.band)
      .add_raw("kept", array_of(counts.kept()))
      .add("decisions_reported", counts.reported())
      .add_raw("accepted", array_of(counts.accepted()))
      .add_raw("age_ranks", array_of(counts.ranks()));
  if (counts.has_pairs()) {
    std::string rows = "[";
    for (std::uint32_t i = 0; i + 1 < shape.n; ++i) {
      std::vector<std::uint64_t> row;
      for (std::uint32_t j = i + 1; j < shape.n; ++j) row.push_back(counts.pair(i, j));
      rows += (i == 0 ? "" : ",") + array_of(row);
    }
    json.add_raw("pairs", rows + "]");
  }
  return json.text();
}

reports::UniformityPlot uniformity_plot(const Sampled& sampled,
                                        const properties::UniformityResult& report) {
  const properties::Counts& counts = report.counts;
  const properties::Shape& shape = counts.shape();
  reports::UniformityPlot plot{.label = sampled.title,
                               .streams = counts.streams(),
                               .first_position = sampled.first_position,
                               .capacity = shape.k,
                               .kept = {counts.kept().begin(), counts.kept().end()},
                               .band = report.band,
                               .pair_ratio = {}};
  if (!counts.has_pairs() || shape.k < 2) return plot;
  const auto n = static_cast<double>(shape.n);
  const auto k = static_cast<double>(shape.k);
  const double expected = static_cast<double>(counts.streams()) * k * (k - 1) / (n * (n - 1));
  plot.pair_ratio.assign(std::size_t{shape.n} * shape.n, 0);
  for (std::uint32_t j = 1; j < shape.n; ++j) {
    for (std::uint32_t i = 0; i < j; ++i) {
      const double ratio = static_cast<double>(counts.pair(i, j)) / expected;
      plot.pair_ratio[std::size_t{i} * shape.n + j] = ratio;
      plot.pair_ratio[std::size_t{j} * shape.n + i] = ratio;
    }
  }
  return plot;
}

}  // namespace kv::cli
