#include "kvcheck/model/attention/attention_window.h"

#include <algorithm>

namespace kv::model {

std::size_t out_of_window(const Visible& visible,
                          std::size_t window,
                          Position position,
                          bool ranks) {
  const std::size_t n = visible.size();
  if (window == 0) return 0;
  if (ranks) return n > window ? n - window : 0;
  // Positions grow with ranks. The query sees itself, so the last rank is never hidden.
  std::size_t low = 0;
  for (std::size_t high = n - 1; low < high;) {
    const std::size_t middle = (low + high) / 2;
    const bool hidden = visible.position_of(middle) + window <= position;
    (hidden ? low : high) = hidden ? middle + 1 : middle;
  }
  return low;
}

Visible without_first(Visible visible, std::size_t count) {
  const std::size_t sinks = std::min(count, visible.sinks.size());
  visible.sinks.first += static_cast<Position>(sinks);
  const std::size_t middle = std::min(count - sinks, visible.middle.size());
  visible.middle = visible.middle.subspan(middle);
  visible.recent.first += static_cast<Position>(count - sinks - middle);
  return visible;
}

}  // namespace kv::model
