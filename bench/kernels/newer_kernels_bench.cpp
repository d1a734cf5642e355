// Kernels that came after commit 88ffc4d, as every_kernel_bench.cpp has the older ones. Random
// draws and rotations have benchmarks of their own.
#include <benchmark/benchmark.h>

#include <cstring>
#include <vector>

#include "kvcheck/base/kernels/block_kernels.h"
#include "kvcheck/bench/kernels/kernel_data.h"

namespace {

using kv::add_benchmark;
using kv::AlignedFloats;
using kv::at_length;
using kv::Bytes;
using kv::kernel;
using kv::Number;
using kv::some_floats;
using kv::stored;

void add_rows(std::size_t n) {
  for (const auto& [name, number] : kv::all_numbers()) {
    const std::size_t size = name == "f32" ? 4 : 2;
    for (const std::size_t ahead : {std::size_t{0}, size * n}) {
      add_benchmark(
          at_length("widen_and_sum " + name + (ahead > 0 ? " ahead" : ""), n),
          [=, number = number, from = stored(2 * n, size), out = AlignedFloats(n)]() mutable {
            const kv::RowSum sum =
                kernel().widen_and_sum(number, from.data(), n, ahead, out.data());
            benchmark::DoNotOptimize(sum.sum);
          });
    }
    add_benchmark(at_length("narrow " + name, n),
                  [n, number = number, from = some_floats(n), out = Bytes(n * size)]() mutable {
                    kernel().narrow(number, from.data(), n, out.data());
                  });
  }
  add_benchmark(at_length("any_bit ahead", n), [n, zeros = Bytes(4 * n)] {
    benchmark::DoNotOptimize(kernel().any_bit(zeros.data(), 2 * n, 2 * n));
  });
}

// In double.
void add_sums(std::size_t n) {
  const AlignedFloats values = some_floats(n);
  const AlignedFloats positive = kv::above_zero(n);
  const std::vector<double> doubles(values.begin(), values.end());
  add_benchmark(at_length("dot_double", n), [values] {
    benchmark::DoNotOptimize(kernel().dot_double(values.data(), values.data(), values.size()));
  });
  add_benchmark(at_length("dot_weights", n), [values, doubles] {
    benchmark::DoNotOptimize(kernel().dot_weights(values.data(), doubles.data(), values.size()));
  });
  add_benchmark(at_length("quadratic", n), [values, doubles] {
    benchmark::DoNotOptimize(
        kernel().quadratic(values.data(), doubles.data(), doubles.data(), values.size()));
  });
  add_benchmark(at_length("add_weighted", n), [values, into = doubles]() mutable {
    kernel().add_weighted(into.data(), values.data(), 0.5, values.size());
  });
  std::vector<double> above(positive.begin(), positive.end());
  for (double& value : above) value += 0.5;
  add_benchmark(at_length("log_each", n), [above, out = above]() mutable {
    std::memcpy(out.data(), above.data(), above.size() * sizeof(double));
    kernel().log_each(out.data(), out.size());
  });
  for (double& value : above) value = -value;
  add_benchmark(at_length("exp_each", n), [above, out = above]() mutable {
    std::memcpy(out.data(), above.data(), above.size() * sizeof(double));
    kernel().exp_each(out.data(), out.size());
  });
  add_benchmark(at_length("extend_bounds", n), [values, least = values, most = values]() mutable {
    kernel().extend_bounds(values.data(), values.size(), least.data(), most.data());
  });
}

// The rows of a block of queries, as replays of queries, keys and values compute them.
void add_blocks(std::size_t rows, std::size_t n, std::size_t dim) {
  const std::string shape = " " + std::to_string(rows) + " of " + std::to_string(dim);
  const AlignedFloats keys = some_floats(n * dim);
  const std::vector<std::size_t> limits(rows, n);
  add_benchmark(at_length("block dot_rows" + shape, n),
                [=, queries = some_floats(rows * dim), out = AlignedFloats(rows * n)]() mutable {
                  kv::block_kernels().dot_rows(queries.data(), rows, {keys.data(), n, dim}, 0.125F,
                                               {out.data(), n});
                });
  add_benchmark(at_length("block weigh_rows" + shape, n),
                [=, weights = kv::above_zero(rows * n), out = AlignedFloats(rows * dim)]() mutable {
                  kv::block_kernels().weigh_rows({weights.data(), n}, limits.data(), rows,
                                                 {keys.data(), n, dim}, out.data());
                });
}

const bool registered = [] {
  for (const std::size_t n : {16U, 100U, 512U, 4096U}) {
    add_rows(n);
    add_sums(n);
  }
  for (const std::size_t n : {16U, 100U, 512U}) {
    for (const std::size_t dim : {64U, 128U}) {
      for (const std::size_t rows : {1U, 6U}) add_blocks(rows, n, dim);
    }
  }
  return true;
}();

}  // namespace
