// A trace with some of its queries, in memory.
#pragma once

#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "kvcheck/traces/query_sample.h"
#include "kvcheck/traces/trace.h"

namespace kv {

// The rows of these queries of [heads, queries, numbers].
inline TensorView rows_of_queries(const TensorView& tensor,
                                  const std::vector<Position>& queries,
                                  std::vector<std::unique_ptr<std::vector<std::byte>>>& blocks) {
  if (tensor.data == nullptr) return {};
  const std::size_t row = tensor.shape[2] * tensor.bytes_per_number();
  auto& block = blocks.emplace_back(
      std::make_unique<std::vector<std::byte>>(tensor.shape[0] * queries.size() * row));
  std::byte* out = block->data();
  for (std::size_t head = 0; head < tensor.shape[0]; ++head) {
    for (const Position query : queries) {
      std::memcpy(out, tensor.data + (head * tensor.shape[1] + query) * row, row);
      out += row;
    }
  }
  return {tensor.number, {tensor.shape[0], queries.size(), tensor.shape[2]}, block->data()};
}

// `trace` outlives the result. An empty design selects nothing and says nothing: `queries` are
// used.
inline Trace with_queries(const Trace& trace,
                          std::vector<Position> queries,
                          std::optional<QueryDesign> design) {
  struct Blocks {
    std::vector<std::unique_ptr<std::vector<std::byte>>> all;
  };

  auto blocks = std::make_shared<Blocks>();
  std::vector<Trace::Layer> layers;
  for (std::size_t i = 0; i < trace.info().layers.size(); ++i) {
    Trace::Layer layer = trace.layer(i);
    layer.attention = rows_of_queries(layer.attention, queries, blocks->all);
    layer.q = rows_of_queries(layer.q, queries, blocks->all);
    layers.push_back(layer);
  }
  TraceInfo info = trace.info();
  info.queries = std::move(queries);
  info.query_design = std::move(design);
  return {std::move(info), std::move(layers), {}, blocks, trace.transcript()};
}

inline Trace sampled(const Trace& trace, std::string_view design, std::uint64_t seed = 1) {
  auto drawn = draw_queries(parse_query_design(design).value(), trace.info().tokens, seed).value();
  return with_queries(trace, std::move(drawn.queries), std::move(drawn.design));
}

}  // namespace kv
