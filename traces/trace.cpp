#include "kvcheck/traces/trace.h"

#include <utility>

namespace kv {

std::size_t TensorView::numbers() const {
  std::size_t count = 1;
  for (const std::size_t size : shape) count *= size;
  return shape.empty() ? 0 : count;
}

LayerRules rules_of(const TraceInfo& info, std::size_t index) {
  if (info.rules.empty()) return {.layout = info.rope.layout};
  return info.rules[index];
}

std::string_view policy_recorded(const TraceInfo& info) {
  constexpr std::string_view closed = "closed: ";
  const std::string_view loop = info.loop;
  return loop.starts_with(closed) ? loop.substr(closed.size()) : std::string_view();
}

Trace::Trace(TraceInfo info,
             std::vector<Layer> layers,
             std::vector<std::int32_t> token_ids,
             std::shared_ptr<const void> owner,
             Transcript transcript)
    : info_(std::move(info)),
      layers_(std::move(layers)),
      token_ids_(std::move(token_ids)),
      owner_(std::move(owner)),
      transcript_(std::move(transcript)) {}

void Trace::read_from(std::uint64_t checksum, std::function<Result<void>()> unchanged) {
  info_.checksum = checksum;
  unchanged_ = std::move(unchanged);
}

}  // namespace kv
