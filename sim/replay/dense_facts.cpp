#include "kvcheck/sim/replay/dense_facts.h"

#include <algorithm>
#include <limits>
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

}  // namespace

DenseFactsSums::DenseFactsSums(std::size_t queries)
    : entropy_stride_(std::max<std::size_t>(1, queries / entropy_rows)) {}

void DenseFactsSums::add(const DenseRow& row, double weight) {
  const std::span<const float> mass = row.mass;
  first_ += weight * static_cast<double>(mass[0]);
  sinks_ += weight * sum_of(mass.first(std::min(sink_tokens, mass.size())));
  recent_ += weight * sum_of(mass.last(std::min(recent_tokens, mass.size())));
  rows_ += weight;
  if ((row.row + 1) % entropy_stride_ != 0) return;
  entropy_ += weight * entropy_of(mass);
  entropy_rows_ += weight;
}

double DenseFactsSums::entropy_of(std::span<const float> mass) {
  // A key without weight adds nothing; its logarithm becomes 0.
  const auto weight_or_one = [](float p) { return p > 0 ? static_cast<double>(p) : 1.0; };
  logs_.resize(mass.size());
  std::ranges::transform(mass, logs_.begin(), weight_or_one);
  kernels().log_each(logs_.data(), logs_.size());
  return -kernels().dot_weights(mass.data(), logs_.data(), logs_.size());
}

DenseFacts DenseFactsSums::mean(std::size_t layer, std::size_t head) const {
  return {layer, head, first_ / rows_, sinks_ / rows_, recent_ / rows_, entropy_ / entropy_rows_};
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

Result<AttentionMap> attention_map(DenseRows& rows, const TraceInfo& info, std::size_t side) {
  const std::size_t tokens = info.tokens;
  AttentionMap map;
  map.block = (tokens + side - 1) / side;
  map.side = (tokens + map.block - 1) / map.block;
  map.mass.resize(map.side * map.side);
  // The last block may have fewer rows, and means are over the rows that it has.
  std::vector<std::size_t> rows_of_block(map.side);
  for (std::size_t i = 0; i < recorded_queries(info); ++i) {
    ++rows_of_block[recorded_query(info, i) / map.block];
  }
  for (std::size_t block = 0; block < map.side; ++block) {
    if (rows_of_block[block] > 0) continue;
    std::fill_n(map.mass.begin() + static_cast<std::ptrdiff_t>(block * map.side), map.side,
                std::numeric_limits<float>::quiet_NaN());
  }
  for (std::size_t i = 0; i < recorded_queries(info); ++i) {
    const Position query = recorded_query(info, i);
    const Result<DenseRow> row = rows.load(query, i);
    if (!row) return row.error();
    const std::size_t row_block = query / map.block;
    const std::size_t rows_in_block = rows_of_block[row_block];
    float* out = map.mass.data() + row_block * map.side;
    for (std::size_t key = 0; key <= query; key += map.block) {
      const std::size_t n = std::min<std::size_t>(map.block, query + std::size_t{1} - key);
      out[key / map.block] +=
          kernels().sum(row->mass.data() + key, n) / static_cast<float>(rows_in_block);
    }
  }
  return map;
}

}  // namespace kv
