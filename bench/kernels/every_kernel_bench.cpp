// The kernels of the best kind that this machine runs, at lengths from sixteen to thousands, on
// data in the caches: those that commit 88ffc4d had too, so that builds.py compares it with this
// one (older_build.sh). newer_kernels_bench.cpp has the others, and targets_bench.cpp compares the
// kinds of machines.
#include <benchmark/benchmark.h>

#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "kvcheck/bench/kernels/kernel_data.h"
#include "kvcheck/model/kernels/attend_kernels.h"
#include "kvcheck/model/kernels/model_kernels.h"

namespace {

using kv::add_benchmark;
using kv::AlignedFloats;
using kv::at_length;
using kv::Bytes;
using kv::kernel;
using kv::Number;
using kv::some_floats;
using kv::stored;

using kv::model::Quantisation;
using kv::model::Storage;

const kv::model::ModelKernels& model_kernel() {
  return *kv::model::supported_model_kernels().front();
}

// All positions below n, in an order without runs.
std::vector<kv::Position> scattered(std::size_t n) {
  std::vector<kv::Position> at(n);
  for (std::size_t i = 0; i < n; ++i) at[i] = static_cast<kv::Position>(i * 40503 % n);
  return at;
}

void add_rows(std::size_t n) {
  for (const auto& [name, number] : kv::all_numbers()) {
    add_benchmark(
        at_length("widen " + name, n),
        [n, number = number, from = stored(n, name == "f32" ? 4 : 2),
         out = AlignedFloats(n)]() mutable { kernel().widen(number, from.data(), n, out.data()); });
  }
  add_benchmark(at_length("any_bit", n), [zeros = Bytes(2 * n)] {
    benchmark::DoNotOptimize(kernel().any_bit(zeros.data(), zeros.size(), 0));
  });
  add_benchmark(at_length("any_sign", n), [values = kv::above_zero(n)] {
    benchmark::DoNotOptimize(kernel().any_sign(values.data(), values.size()));
  });
  add_benchmark(at_length("sum", n), [values = some_floats(n)] {
    benchmark::DoNotOptimize(kernel().sum(values.data(), values.size()));
  });
  add_benchmark(at_length("scale", n), [values = AlignedFloats(n, 1)]() mutable {
    kernel().scale(values.data(), 1, values.size());
  });
  add_benchmark(at_length("add", n), [from = AlignedFloats(n, 0), into = some_floats(n)]() mutable {
    kernel().add(into.data(), from.data(), from.size());
  });
  add_benchmark(at_length("add_to_double", n),
                [from = some_floats(n), into = std::vector<double>(n)]() mutable {
                  kernel().add_to_double(into.data(), from.data(), from.size());
                });
  add_benchmark(at_length("gather", n),
                [values = some_floats(n), at = scattered(n), out = AlignedFloats(n)]() mutable {
                  kernel().gather(values.data(), at.data(), at.size(), out.data());
                });
  add_benchmark(at_length("softmax", n),
                [logits = some_floats(n), out = AlignedFloats(n)]() mutable {
                  std::memcpy(out.data(), logits.data(), logits.size() * sizeof(float));
                  benchmark::DoNotOptimize(kernel().softmax(out.data(), out.size()));
                });
}

void add_choices(std::size_t n) {
  add_benchmark(at_length("lane_maxima", n),
                [values = kv::above_zero(n), out = AlignedFloats(32)]() mutable {
                  kernel().lane_maxima(values.data(), values.size(), out.data());
                });
  add_benchmark(at_length("at_least", n), [values = kv::above_zero(n),
                                           at = std::vector<kv::Position>(n + 16)]() mutable {
    benchmark::DoNotOptimize(kernel().at_least(values.data(), values.size(), 2, at.data()));
  });
  add_benchmark(at_length("argmin", n), [values = some_floats(n)] {
    benchmark::DoNotOptimize(kernel().argmin(values.data(), values.size()));
  });
  const AlignedFloats values = some_floats(n);
  const std::vector<double> doubles(values.begin(), values.end());
  add_benchmark(at_length("argmin_double", n), [doubles] {
    benchmark::DoNotOptimize(kernel().argmin_double(doubles.data(), doubles.size()));
  });
  // It finds the least distance too, for which older builds call argmin_double.
  add_benchmark(at_length("relax and argmin", n), [doubles, distance = doubles]() mutable {
    benchmark::DoNotOptimize(
        kernel().relax(doubles.data(), doubles.data(), 1, doubles.size(), distance.data()));
  });
  if (n > kv::most_candidates) return;
  add_benchmark(at_length("largest 16", n), [values = kv::above_zero(n), at = scattered(n),
                                             out = std::vector<kv::Position>(n)]() mutable {
    benchmark::DoNotOptimize(kernel().largest(values.data(), at.data(), at.size(), 16, out.data()));
  });
}

void add_products_of_rows(std::size_t n, std::size_t dim) {
  const std::string shape = " " + std::to_string(dim);
  const AlignedFloats rows = some_floats(n * dim);
  add_benchmark(at_length("dot_rows" + shape, n),
                [=, query = some_floats(dim), out = AlignedFloats(n)]() mutable {
                  kernel().dot_rows(query.data(), rows.data(), n, dim, 0.125F, out.data());
                });
  add_benchmark(at_length("weigh_rows" + shape, n),
                [=, weights = some_floats(n), out = AlignedFloats(dim)]() mutable {
                  kernel().weigh_rows(weights.data(), rows.data(), n, dim, out.data());
                });
  add_benchmark(
      at_length("weigh_rows_at" + shape, n),
      [=, weights = some_floats(n), at = scattered(n), out = AlignedFloats(dim)]() mutable {
        kernel().weigh_rows_at(weights.data(), rows.data(), at.data(), n, dim, out.data());
      });
}

// One kv-head with so many query heads; every other slot, or all in their order.
void add_attention(Storage storage, const std::string& name, std::size_t heads, std::size_t n) {
  const std::size_t dim = heads == 1 ? 64 : 128;
  const std::size_t size = kv::model::bytes_of(storage);
  for (const bool in_order : {true, false}) {
    std::vector<std::uint32_t> slots = scattered(n);
    if (in_order) std::iota(slots.begin(), slots.end(), 0);
    add_benchmark(
        at_length("attend " + name + " " + std::to_string(heads) + (in_order ? "" : " scattered"),
                  n),
        [=, bytes = stored(n * dim, size), scales = some_floats(n),
         queries = some_floats(heads * dim), state = AlignedFloats(heads * kv::model::attend_state),
         out = AlignedFloats(heads * dim)]() mutable {
          const kv::model::SlotRows rows = {storage, bytes.data(), dim, slots.data(),
                                            n,       scales.data()};
          const kv::model::QueryRun run = {n, queries.data()};
          kv::model::supported_attend_kernels().front()->attend({.keys = rows,
                                                                 .values = rows,
                                                                 .runs = {&run, 1},
                                                                 .vectors = heads,
                                                                 .scale = 0.1F,
                                                                 .state = state.data(),
                                                                 .out = out.data()});
        });
  }
}

// What takes the logits and the weights of every query apart, as policies need them.
void add_logits(Storage storage, const std::string& name, std::size_t heads, std::size_t n) {
  constexpr std::size_t dim = 64;
  std::vector<std::uint32_t> slots(n);
  std::iota(slots.begin(), slots.end(), 0);
  const Bytes bytes = stored(n * dim, kv::model::bytes_of(storage));
  const std::string what = name + " " + std::to_string(heads);
  add_benchmark(at_length("logits " + what, n),
                [=, queries = some_floats(heads * dim), out = AlignedFloats(heads * n)]() mutable {
                  model_kernel().logits({storage, bytes.data(), dim, slots.data(), n},
                                        queries.data(), heads, 0.1F, n, out.data());
                });
  add_benchmark(at_length("weigh " + what, n),
                [=, mass = some_floats(heads * n), out = AlignedFloats(heads * dim)]() mutable {
                  model_kernel().weigh({storage, bytes.data(), dim, slots.data(), n}, mass.data(),
                                       heads, n, out.data());
                });
}

void add_product(const std::string& name, Number number, std::size_t tokens) {
  constexpr std::size_t rows = 256;
  constexpr std::size_t columns = 768;
  add_benchmark(at_length("multiply " + name, tokens),
                [=, weights = stored(rows * columns, number == Number::f32 ? 4 : 2),
                 x = some_floats(tokens * columns), out = AlignedFloats(tokens * rows)]() mutable {
                  model_kernel().multiply({number, weights.data(), rows, columns}, x.data(), tokens,
                                          rows, out.data());
                });
}

void add_quantised(const std::string& name, Quantisation kind, std::size_t tokens) {
  constexpr std::size_t rows = 256;
  constexpr std::size_t columns = 768;
  add_benchmark(at_length("multiply " + name, tokens),
                [=, codes = Bytes(rows * kv::model::code_bytes(kind, columns), std::byte{0x35}),
                 scales = AlignedFloats(rows * kv::model::scales_of_row(kind, columns), 0.01F),
                 x = some_floats(tokens * columns), out = AlignedFloats(tokens * rows)]() mutable {
                  model_kernel().multiply_quantised(
                      {kind, codes.data(), scales.data(), rows, columns}, x.data(), tokens, rows,
                      out.data());
                });
}

const bool registered = [] {
  for (const std::size_t n : {16U, 100U, 512U, 4096U}) {
    add_rows(n);
    add_choices(n);
  }
  add_choices(kv::most_candidates);
  for (const std::size_t n : {16U, 100U, 512U}) {
    for (const std::size_t dim : {64U, 128U}) add_products_of_rows(n, dim);
    for (const std::size_t heads : {1U, 4U}) {
      add_attention(Storage::f32, "f32", heads, n);
      add_attention(Storage::f16, "f16", heads, n);
      add_attention(Storage::bf16, "bf16", heads, n);
      add_attention(Storage::int8, "int8", heads, n);
      add_logits(Storage::f32, "f32", heads, n);
      add_logits(Storage::f16, "f16", heads, n);
    }
  }
  for (const std::size_t tokens : {1U, 2U, 4U, 8U, 16U, 128U}) {
    for (const auto& [name, number] : kv::all_numbers()) add_product(name, number, tokens);
    add_quantised("int8", Quantisation::int8, tokens);
    add_quantised("nf4", Quantisation::nf4, tokens);
  }
  return true;
}();

}  // namespace
