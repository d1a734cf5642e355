#include "kvcheck/sim/replay/dense_facts.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kvcheck/base/check.h"
#include "kvcheck/base/kernels/kernels.h"

namespace kv {
namespace {

constexpr std::size_t sink_tokens = 4;
constexpr std::size_t recent_tokens = 64;
constexpr std::size_t entropy_rows = 32;

double sum_of(std::span<const float> values) {
  return static_cast<double>(kernels().sum(values.data(), values.size()));
}

double entropy_of(std::span<const float> mass) {
  double entropy = 0;
  for (const float p : mass) {
    if (p > 0) entropy -= static_cast<double>(p) * std::log(static_cast<double>(p));
  }
  return entropy;
}

}  // namespace

DenseFactsSums::DenseFactsSums(std::size_t tokens)
    : entropy_stride_(std::max<std::size_t>(1, tokens / entropy_rows)) {}

void DenseFactsSums::add(const DenseRow& row) {
  const std::span<const float> mass = row.mass;
  first_ += static_cast<double>(mass[0]);
  sinks_ += sum_of(mass.first(std::min(sink_tokens, mass.size())));
  recent_ += sum_of(mass.last(std::min(recent_tokens, mass.size())));
  ++rows_;
  if (mass.size() % entropy_stride_ != 0) return;
  entropy_ += entropy_of(mass);
  ++entropy_rows_;
}

DenseFacts DenseFactsSums::mean(std::size_t layer, std::size_t head) const {
  const auto rows = static_cast<double>(rows_);
  return {layer,         head,           first_ / rows,
          sinks_ / rows, recent_ / rows, entropy_ / static_cast<double>(entropy_rows_)};
}

const DenseFacts& most_sink(std::span<const DenseFacts> facts) {
  KV_CHECK(!facts.empty());
  const auto less = [](const DenseFacts& a, const DenseFacts& b) {
    // Sinks form above layer 0, so its heads rank last.
    if ((a.layer > 0) != (b.layer > 0)) return a.layer == 0;
    return a.first_mass < b.first_mass;
  };
  return *std::ranges::max_element(facts, less);
}

Result<AttentionMap> attention_map(DenseRows& rows, std::size_t tokens, std::size_t side) {
  AttentionMap map;
  map.block = (tokens + side - 1) / side;
  map.side = (tokens + map.block - 1) / map.block;
  map.mass.resize(map.side * map.side);
  for (std::size_t query = 0; query < tokens; ++query) {
    const Result<DenseRow> row = rows.load(static_cast<Position>(query));
    if (!row) return row.error();
    const std::size_t row_block = query / map.block;
    // The last block may have fewer rows, and means are over the rows that it has.
    const std::size_t rows_in_block = std::min(map.block, tokens - row_block * map.block);
    float* out = map.mass.data() + row_block * map.side;
    for (std::size_t key = 0; key <= query; key += map.block) {
      const std::size_t n = std::min(map.block, query + 1 - key);
      out[key / map.block] +=
          kernels().sum(row->mass.data() + key, n) / static_cast<float>(rows_in_block);
    }
  }
  return map;
}

}  // namespace kv
