#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "kvcheck/base/kernels/kernels_detail.h"
#include "kvcheck/model/kernels/model_kernels_detail.h"

namespace kv::model {
namespace {

constexpr std::size_t lanes = 16;

float add_lanes(const float* sums) {
  std::array<float, lanes> all{};
  std::copy_n(sums, lanes, all.begin());
  for (std::size_t half = lanes / 2; half > 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) all[i] += all[i + half];
  }
  return all[0];
}

// The exponential that base/kernels/kernels.h defines, operation by operation.
float exponential(float x) {
  if (!(x >= exp_underflow)) return x < exp_underflow ? 0 : x;  // a NaN
  const float n = (x * exp_log2e + exp_magic) - exp_magic;
  const float rest = (x - n * exp_ln2_high) - n * exp_ln2_low;
  float p = exp_c6;
  for (const float c : {exp_c5, exp_c4, exp_c3, exp_c2, 1.0F, 1.0F}) p = p * rest + c;
  const auto exponent = static_cast<std::uint32_t>(static_cast<std::int32_t>(n) + 127) << 23;
  return p * std::bit_cast<float>(exponent);
}

// The row's numbers, without the scale that int8 has.
void widen_row(const SlotRows& rows, std::size_t i, std::vector<float>& row) {
  const std::byte* at = rows.rows + rows.slots[i] * rows.dim * bytes_of(rows.storage);
  if (rows.storage != Storage::int8) {
    supported_kernels().back()->widen(static_cast<Number>(rows.storage), at, rows.dim, row.data());
    return;
  }
  for (std::size_t j = 0; j < rows.dim; ++j) {
    row[j] = static_cast<float>(static_cast<std::int8_t>(at[j]));
  }
}

float scale_of(const SlotRows& rows, std::size_t i) {
  return rows.storage == Storage::int8 ? rows.scales[rows.slots[i]] : 1.0F;
}

struct Vector {
  float most = -std::numeric_limits<float>::infinity();
  std::array<float, lanes> sums{};
};

// The rows [begin, end) of one tile for vector v.
void meet_tile(
    const AttendJob& job, std::size_t v, std::size_t begin, std::size_t end, Vector& state) {
  const std::size_t dim = job.keys.dim;
  std::vector<float> row(dim);
  std::array<float, attend_tile> weights{};
  const QueryRun* run = job.runs.data();
  float largest = -std::numeric_limits<float>::infinity();
  for (std::size_t i = begin; i < end; ++i) {
    // Runs are not cut at tiles: a tile may need queries of several.
    while (i >= run->end) ++run;
    widen_row(job.keys, i, row);
    const float product = job.scale * scalar_dot(run->queries + v * dim, row.data(), dim);
    const float logit = product * scale_of(job.keys, i);
    if (job.logits != nullptr) job.logits[v * job.stride + i] = logit;
    weights[i - begin] = logit;
    largest = std::max(largest, logit);
  }
  // A larger logit than any before: the sums so far are rescaled to the new base. At first
  // `most` is -infinity, so the factor is 0, and so are the sums.
  float* out = job.out + v * dim;
  if (largest > state.most) {
    const float factor = exponential(state.most - largest);
    state.most = largest;
    for (float& sum : state.sums) sum *= factor;
    for (std::size_t j = 0; j < dim; ++j) out[j] *= factor;
  }
  for (std::size_t i = begin; i < end; ++i) {
    const float weight = exponential(weights[i - begin] - state.most);
    state.sums[i % lanes] += weight;
    widen_row(job.values, i, row);
    const float scaled = weight * scale_of(job.values, i);
    for (std::size_t j = 0; j < dim; ++j) out[j] = std::fma(scaled, row[j], out[j]);
  }
}

void attend(const AttendJob& job) {
  const std::size_t dim = job.keys.dim;
  std::fill_n(job.out, job.vectors * dim, 0.0F);
  for (std::size_t v = 0; v < job.vectors; ++v) {
    const std::size_t limit = job.limits == nullptr ? job.keys.count : job.limits[v];
    Vector state;
    for (std::size_t begin = 0; begin < limit; begin += attend_tile) {
      meet_tile(job, v, begin, std::min(begin + attend_tile, limit), state);
    }
    const float part = 1.0F / add_lanes(state.sums.data());
    float* out = job.out + v * dim;
    for (std::size_t j = 0; j < dim; ++j) out[j] = out[j] * part + 0.0F;
  }
}

}  // namespace

const AttendKernels scalar_attend_kernels = {.name = "scalar", .attend = attend};

}  // namespace kv::model
