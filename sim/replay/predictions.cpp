#include "kvcheck/sim/replay/predictions.h"

#include <array>
#include <cmath>
#include <limits>

namespace kv {

std::string RecallBin::label() const {
  return std::to_string(first) + "-" + std::to_string(last);
}

double RecallBin::share() const {
  if (asked == 0) return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(right) / static_cast<double>(asked);
}

std::vector<RecallBin> recall_bins() {
  constexpr std::array<std::size_t, 8> edges = {1, 16, 32, 64, 96, 128, 256, 65536};
  std::vector<RecallBin> bins;
  for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
    bins.push_back({.first = edges[i], .last = edges[i + 1]});
  }
  return bins;
}

double Segment::perplexity() const {
  return perplexity_of(nats, targets);
}

std::vector<Segment> segments_of(std::span<const LossPoint> series, std::size_t width) {
  std::vector<Segment> segments;
  for (const LossPoint& point : series) {
    while (segments.empty() || point.first >= segments.back().last) {
      const std::size_t first = segments.empty() ? 0 : segments.back().last;
      segments.push_back({.first = first, .last = segments.empty() ? width : 2 * first});
    }
    segments.back().targets += point.targets;
    segments.back().nats += point.nats;
  }
  return segments;
}

double perplexity_of(double nats, std::size_t targets) {
  return targets == 0 ? 1 : std::exp(nats / static_cast<double>(targets));
}

}  // namespace kv
