#include "kvcheck/traces/files/save.h"

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "kvcheck/base/kernels/kernels.h"
#include "kvcheck/traces/files/checksum.h"
#include "kvcheck/traces/files/writer.h"

namespace kv {
namespace {

Result<void> save_tensor(const TensorView& tensor, TraceWriter& writer) {
  constexpr std::size_t piece = 1 << 16;
  std::vector<float> values(piece);
  const std::size_t numbers = tensor.numbers();
  for (std::size_t begin = 0; begin < numbers; begin += piece) {
    const std::size_t n = std::min(piece, numbers - begin);
    const std::byte* bytes = tensor.data + begin * tensor.bytes_per_number();
    kernels().widen(tensor.number, bytes, n, values.data());
    if (auto written = writer.write(std::span(values).first(n)); !written) return written;
  }
  return {};
}

Result<void> save_layers(const Trace& trace, TraceWriter& writer) {
  for (std::size_t i = 0; i < trace.info().layers.size(); ++i) {
    const Trace::Layer& layer = trace.layer(i);
    const std::array<const TensorView*, 3> factors{&layer.q, &layer.k, &layer.v};
    if (trace.info().kind == TraceKind::attention) {
      if (auto saved = save_tensor(layer.attention, writer); !saved) return saved;
      continue;
    }
    for (const TensorView* tensor : factors) {
      if (auto saved = save_tensor(*tensor, writer); !saved) return saved;
    }
  }
  return writer.commit();
}

}  // namespace

Result<void> save_trace(const Trace& trace, const std::string& path) {
  auto writer = TraceWriter::create(path, trace.info(), trace.token_ids(), trace.transcript());
  if (!writer) return writer.error();
  return save_layers(trace, *writer);
}

Result<std::uint64_t> saved_checksum(const Trace& trace) {
  const auto checksum = std::make_shared<Checksum>();
  auto writer = TraceWriter::into(checksum, trace.info(), trace.token_ids(), trace.transcript());
  if (!writer) return writer.error();
  if (auto saved = save_layers(trace, *writer); !saved) return saved.error();
  return checksum->value();
}

}  // namespace kv
