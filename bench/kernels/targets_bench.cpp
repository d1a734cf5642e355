// The kernels of every kind of machine against the scalar ones and against the best of this
// machine, on data in the caches. "us" is the CPU time of one run in microseconds; "of_scalar" is
// the scalar kernels' time divided by the own time, and "of_best" the same for the best kernels,
// both measured in turns. All are medians.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include "kvcheck/base/half.h"
#include "kvcheck/base/random/rng.h"
#include "kvcheck/model/kernels/attend_kernels.h"
#include "kvcheck/model/kernels/model_kernels.h"

namespace {

using kv::model::Storage;

std::vector<float> some_floats(std::size_t n) {
  std::vector<float> out(n);
  const kv::Rng rng(3);
  for (std::size_t i = 0; i < n; ++i) {
    out[i] = static_cast<float>(rng.normal(static_cast<kv::Position>(i)));
  }
  return out;
}

std::vector<std::byte> stored(std::size_t n, bool halves) {
  const std::vector<float> values = some_floats(n);
  std::vector<std::byte> bytes(n * (halves ? 2 : 4));
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint16_t half = kv::f32_to_f16(values[i]);
    if (halves) std::memcpy(bytes.data() + 2 * i, &half, 2);
    if (!halves) std::memcpy(bytes.data() + 4 * i, &values[i], 4);
  }
  return bytes;
}

// Keys and values in that storage; of int8, any bytes will do.
std::vector<std::byte> stored_as(Storage storage, std::size_t n) {
  if (storage == Storage::int8) return std::vector<std::byte>(n, std::byte{0x35});
  return stored(n, storage != Storage::f32);
}

// Work for the kernels with number `table` of those that this machine runs.
using Work = std::function<void(std::size_t table)>;

Work softmax() {
  return [logits = some_floats(512), out = std::vector<float>(512)](std::size_t table) mutable {
    std::ranges::copy(logits, out.begin());
    kv::supported_kernels()[table]->softmax(out.data(), out.size());
  };
}

Work widen_f16() {
  return [bytes = stored(4096, true), out = std::vector<float>(4096)](std::size_t table) mutable {
    kv::supported_kernels()[table]->widen(kv::Number::f16, bytes.data(), out.size(), out.data());
  };
}

Work dot_rows() {
  return [rows = some_floats(std::size_t{512} * 64), query = some_floats(64),
          out = std::vector<float>(512)](std::size_t table) mutable {
    kv::supported_kernels()[table]->dot_rows(query.data(), rows.data(), 512, 64, 0.125F,
                                             out.data());
  };
}

Work weigh_rows() {
  return [rows = some_floats(std::size_t{512} * 64), weights = some_floats(512),
          out = std::vector<float>(64)](std::size_t table) mutable {
    kv::supported_kernels()[table]->weigh_rows(weights.data(), rows.data(), 512, 64, out.data());
  };
}

// One kv-head with `heads` query heads over 512 residents.
Work attend(std::size_t heads, std::size_t dim, Storage storage) {
  constexpr std::size_t residents = 512;
  std::vector<std::uint32_t> slots(residents);
  for (std::uint32_t i = 0; i < residents; ++i) slots[i] = i;
  return [=, rows = stored_as(storage, residents * dim), slots = std::move(slots),
          scales = some_floats(residents), queries = some_floats(heads * dim),
          out = std::vector<float>(heads * dim),
          state = std::vector<float>(heads * kv::model::attend_state)](std::size_t table) mutable {
    const kv::model::SlotRows both = {storage,      rows.data(), dim,
                                      slots.data(), residents,   scales.data()};
    const kv::model::QueryRun run = {residents, queries.data()};
    kv::model::supported_attend_kernels()[table]->attend({.keys = both,
                                                          .values = both,
                                                          .runs = {&run, 1},
                                                          .vectors = heads,
                                                          .scale = 0.1F,
                                                          .state = state.data(),
                                                          .out = out.data()});
  };
}

constexpr std::size_t rows = 256;
constexpr std::size_t columns = 768;

Work product(kv::Number number, std::size_t tokens) {
  return [=, weights = stored(rows * columns, number != kv::Number::f32),
          x = some_floats(tokens * columns),
          out = std::vector<float>(tokens * rows)](std::size_t table) mutable {
    kv::model::supported_model_kernels()[table]->multiply({number, weights.data(), rows, columns},
                                                          x.data(), tokens, rows, out.data());
  };
}

Work quantised(kv::model::Quantisation kind, std::size_t tokens) {
  return
      [=,
       codes = std::vector<std::byte>(rows * kv::model::code_bytes(kind, columns), std::byte{0x35}),
       scales = some_floats(rows * (kv::model::scales_of_row(kind, columns) + 1)),
       x = some_floats(tokens * columns),
       out = std::vector<float>(tokens * rows)](std::size_t table) mutable {
        kv::model::supported_model_kernels()[table]->multiply_quantised(
            {kind, codes.data(), scales.data(), rows, columns}, x.data(), tokens, rows, out.data());
      };
}

// The CPU time of `times` runs.
double seconds(const Work& work, std::size_t table, int times) {
  timespec begin{};
  timespec end{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
  for (int i = 0; i < times; ++i) work(table);
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
  return static_cast<double>(end.tv_sec - begin.tv_sec) +
         1e-9 * static_cast<double>(end.tv_nsec - begin.tv_nsec);
}

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

void BM_target(benchmark::State& state, const std::function<Work()>& make, std::size_t table) {
  const Work work = make();
  const std::size_t scalar = kv::supported_kernels().size() - 1;
  // About a tenth of a millisecond each, which the clock measures well.
  const int times = 1 + static_cast<int>(1e-4 / seconds(work, table, 2));
  std::vector<double> micros;
  std::vector<double> of_scalar;
  std::vector<double> of_best;
  for (auto _ : state) {
    const double own = seconds(work, table, times);
    state.SetIterationTime(own);
    micros.push_back(1e6 * own / times);
    of_best.push_back(seconds(work, 0, times) / own);
    of_scalar.push_back(seconds(work, scalar, 1) * times / own);
  }
  state.counters["us"] = median(micros);
  state.counters["of_best"] = median(of_best);
  state.counters["of_scalar"] = median(of_scalar);
}

void add(const std::string& name, const std::function<Work()>& make, std::size_t table, int times) {
  const std::string full = name + "/" + std::string(kv::supported_kernels()[table]->name);
  benchmark::RegisterBenchmark(full.c_str(), BM_target, make, table)
      ->UseManualTime()
      ->Iterations(times);
}

const bool registered = [] {
  using kv::Number;
  using kv::model::Quantisation;
  const std::vector<std::pair<std::string, std::function<Work()>>> all = {
      {"softmax", softmax},
      {"widen f16", widen_f16},
      {"dot_rows", dot_rows},
      {"weigh_rows", weigh_rows},
      {"attend 1 of 64 f32", [] { return attend(1, 64, Storage::f32); }},
      {"attend 1 of 64 f16", [] { return attend(1, 64, Storage::f16); }},
      {"attend 4 of 128 f32", [] { return attend(4, 128, Storage::f32); }},
      {"attend 4 of 128 f16", [] { return attend(4, 128, Storage::f16); }},
      {"product f32, 1 token", [] { return product(Number::f32, 1); }},
      {"product f16, 1 token", [] { return product(Number::f16, 1); }},
      {"product f32, 64 tokens", [] { return product(Number::f32, 64); }},
      {"product f16, 64 tokens", [] { return product(Number::f16, 64); }},
      {"product int8, 1 token", [] { return quantised(Quantisation::int8, 1); }},
      {"product nf4, 1 token", [] { return quantised(Quantisation::nf4, 1); }},
      {"product q4_k, 1 token", [] { return quantised(Quantisation::q4_k, 1); }},
      {"product nf4, 64 tokens", [] { return quantised(Quantisation::nf4, 64); }},
  };
  for (const auto& [name, make] : all) {
    for (std::size_t table = 0; table + 1 < kv::supported_kernels().size(); ++table) {
      add("targets/" + name, make, table, 100);
    }
  }
  return true;
}();

// Attention in 120 shapes, with the kernels for AVX2 where this machine has better ones: the goal
// is half of their speed.
const bool shapes_registered = [] {
  const auto tables = kv::supported_kernels();
  const auto name_of = [](const kv::Kernels* table) { return table->name; };
  const auto avx2 = std::ranges::find(tables, "avx2", name_of);
  if (avx2 == tables.end() || avx2 == tables.begin()) return false;
  const auto table = static_cast<std::size_t>(avx2 - tables.begin());
  const std::vector<std::pair<Storage, std::string>> storages = {{Storage::f32, "f32"},
                                                                 {Storage::f16, "f16"},
                                                                 {Storage::bf16, "bf16"},
                                                                 {Storage::int8, "int8"}};
  for (const auto& [storage, name] : storages) {
    for (const std::size_t dim : {64U, 80U, 96U, 100U, 128U, 256U}) {
      for (const std::size_t heads : {1U, 2U, 4U, 5U, 8U}) {
        const std::string shape =
            "shapes/attend " + std::to_string(heads) + " of " + std::to_string(dim) + " " + name;
        add(
            shape, [=, kind = storage] { return attend(heads, dim, kind); }, table, 30);
      }
    }
  }
  return true;
}();

}  // namespace
