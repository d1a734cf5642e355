// The decoder's kernels against the speed of memory: one query's attention over the keys and values
// of all kv-heads, not in the caches, and the product of one token with a matrix. The counter
// "of_read" is the share of the rate at which the same bytes are read and tested for zero, in the
// number of streams that is fastest here: the median over pairs that are measured one after the
// other, in CPU time of this thread. "of_rows" is
// the same against reading the rows one by one in the order of their slots.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <vector>

#include "kvcheck/base/check.h"
#include "kvcheck/base/half.h"
#include "kvcheck/base/random/rng.h"
#include "kvcheck/bench/readers.h"
#include "kvcheck/model/kernels/attend_kernels.h"
#include "kvcheck/model/kernels/model_kernels.h"
#include "kvcheck/sim/cache/slots.h"

namespace {

// The CPU time of this thread, so that other work on the machine counts only through its use of
// memory.
double cpu_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

struct Shape {
  std::size_t heads;
  std::size_t kv_heads;
  std::size_t dim;
  kv::model::Storage storage;
};

// Keys and values of one layer, in so many copies that none is kept in the caches.
class Layers {
 public:
  Layers(const Shape& shape, std::size_t residents, bool scattered) : shape_(shape) {
    const std::size_t size = kv::model::bytes_of(shape.storage);
    bytes_ = residents * shape.dim * size;
    const std::size_t layer = 2 * bytes_ * shape.kv_heads;
    copies_ = std::max<std::size_t>(1, (std::size_t{512} << 20) / layer);
    memory_.resize(copies_ * layer + 64);
    base_ = (64 - reinterpret_cast<std::uintptr_t>(memory_.data()) % 64) % 64;
    // The numbers are normal in the storage type, because products with subnormal ones take far
    // longer.
    for (std::size_t i = 0; i < copies_ * layer; i += size) {
      const float number = static_cast<float>(i % 977 + 1) / 977;
      const std::uint16_t half = kv::f32_to_f16(number);
      if (size == 2) std::memcpy(memory_.data() + base_ + i, &half, size);
      if (size == 4) std::memcpy(memory_.data() + base_ + i, &number, size);
    }
    slots_.resize(residents);
    for (std::size_t i = 0; i < residents; ++i) {
      slots_[i] = static_cast<kv::Slot>(scattered ? i * 40503 % residents : i);
    }
    queries_.assign(shape.heads * shape.dim, 0.01F);
    state_.resize(shape.heads * kv::model::attend_state);
    out_.resize(queries_.size());
  }

  void attend(std::size_t copy) {
    const std::size_t group = shape_.heads / shape_.kv_heads;
    for (std::size_t h = 0; h < shape_.kv_heads; ++h) {
      const std::byte* keys = keys_of(copy, h);
      const auto rows = [&](const std::byte* from) {
        return kv::model::SlotRows{shape_.storage, from, shape_.dim, slots_.data(), slots_.size()};
      };
      const std::size_t at = h * group * shape_.dim;
      const kv::model::QueryRun run{slots_.size(), queries_.data() + at};
      kv::model::attend_kernels().attend({.keys = rows(keys),
                                          .values = rows(keys + bytes_),
                                          .runs = {&run, 1},
                                          .vectors = group,
                                          .scale = 0.1F,
                                          .state = state_.data(),
                                          .out = out_.data() + at});
    }
    benchmark::DoNotOptimize(out_.data());
  }

  // Reads the same bytes and adds them up.
  void read(std::size_t copy) {
    const std::size_t layer = 2 * bytes_ * shape_.kv_heads;
    bool any = kv::read_fastest(memory_.data() + base_ + copy * layer, layer);
    benchmark::DoNotOptimize(any);
  }

  // Reads the same rows one by one in the order in which attention meets them.
  void read_rows(std::size_t copy) {
    const std::size_t row = shape_.dim * kv::model::bytes_of(shape_.storage);
    bool any = false;
    for (std::size_t h = 0; h < shape_.kv_heads; ++h) {
      const std::byte* keys = keys_of(copy, h);
      for (const std::byte* rows : {keys, keys + bytes_}) {
        for (const kv::Slot slot : slots_) any |= kv::kernels().any_bit(rows + slot * row, row);
      }
    }
    benchmark::DoNotOptimize(any);
  }

  [[nodiscard]] std::size_t copies() const { return copies_; }

 private:
  // The keys of one kv-head; its values follow.
  [[nodiscard]] const std::byte* keys_of(std::size_t copy, std::size_t head) const {
    return memory_.data() + base_ + (copy * shape_.kv_heads + head) * 2 * bytes_;
  }

  Shape shape_;
  std::size_t bytes_ = 0;  // of one kv-head's keys
  std::size_t copies_ = 0;
  std::size_t base_ = 0;  // where a cache line begins
  std::vector<std::byte> memory_;
  std::vector<kv::Slot> slots_;
  std::vector<float> queries_;
  std::vector<float> state_;
  std::vector<float> out_;
};

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void BM_decode(benchmark::State& state, const Shape& shape, bool scattered) {
  Layers layers(shape, static_cast<std::size_t>(state.range(0)), scattered);
  std::vector<double> shares;
  std::vector<double> row_shares;
  std::size_t copy = 0;
  for (auto _ : state) {
    const double begun = cpu_seconds();
    layers.attend(copy);
    const double time = cpu_seconds() - begun;
    state.SetIterationTime(time);
    copy = (copy + 1) % layers.copies();
    const double read = cpu_seconds();
    layers.read(copy);
    shares.push_back((cpu_seconds() - read) / time);
    copy = (copy + 1) % layers.copies();
    const double rows = cpu_seconds();
    layers.read_rows(copy);
    row_shares.push_back((cpu_seconds() - rows) / time);
    copy = (copy + 1) % layers.copies();
  }
  state.counters["of_read"] = median(shares);
  state.counters["of_rows"] = median(row_shares);
}

constexpr Shape plain_f32 = {12, 12, 64, kv::model::Storage::f32};
constexpr Shape plain_f16 = {12, 12, 64, kv::model::Storage::f16};
constexpr Shape grouped_f32 = {32, 8, 128, kv::model::Storage::f32};
constexpr Shape grouped_f16 = {32, 8, 128, kv::model::Storage::f16};

BENCHMARK_CAPTURE(BM_decode, plain_f32, plain_f32, false)->Arg(512)->Arg(4096)->UseManualTime();
BENCHMARK_CAPTURE(BM_decode, plain_f16, plain_f16, false)->Arg(512)->Arg(4096)->UseManualTime();
BENCHMARK_CAPTURE(BM_decode, plain_f32_scattered, plain_f32, true)->Arg(4096)->UseManualTime();
BENCHMARK_CAPTURE(BM_decode, plain_f16_scattered, plain_f16, true)->Arg(4096)->UseManualTime();
BENCHMARK_CAPTURE(BM_decode, grouped_f32, grouped_f32, false)->Arg(512)->Arg(4096)->UseManualTime();
BENCHMARK_CAPTURE(BM_decode, grouped_f16, grouped_f16, false)->Arg(512)->Arg(4096)->UseManualTime();
BENCHMARK_CAPTURE(BM_decode, grouped_f32_scattered, grouped_f32, true)->Arg(4096)->UseManualTime();
BENCHMARK_CAPTURE(BM_decode, grouped_f16_scattered, grouped_f16, true)->Arg(4096)->UseManualTime();

// The rate at which memory is read, which bounds products of one token.
void BM_read(benchmark::State& state) {
  const std::vector<std::byte> memory(std::size_t{512} << 20, std::byte{1});
  kv::fastest_streams();  // which would otherwise be measured in the first iteration
  for (auto _ : state) {
    bool any = kv::read_fastest(memory.data(), memory.size());
    benchmark::DoNotOptimize(any);
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(memory.size()) * state.iterations());
}

BENCHMARK(BM_read);

// The product of one token or a chunk with a matrix of 768 x 3072 whose weights are not in the
// caches.
void BM_product(benchmark::State& state, kv::Number number) {
  constexpr std::size_t rows = 3072;
  constexpr std::size_t columns = 768;
  const auto tokens = static_cast<std::size_t>(state.range(0));
  const std::size_t bytes = rows * columns * (number == kv::Number::f32 ? 4 : 2);
  const std::size_t copies = (std::size_t{512} << 20) / bytes;
  const std::vector<std::byte> weights(bytes * copies);
  const std::vector<float> x(tokens * columns, 0.5F);
  std::vector<float> out(tokens * rows);
  std::size_t copy = 0;
  for (auto _ : state) {
    kv::model::model_kernels().multiply({number, weights.data() + copy * bytes, rows, columns},
                                        x.data(), tokens, rows, out.data());
    benchmark::DoNotOptimize(out.data());
    copy = (copy + 1) % copies;
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes) * state.iterations());
  state.counters["gflops"] = benchmark::Counter(2e-9 * rows * columns * static_cast<double>(tokens),
                                                benchmark::Counter::kIsIterationInvariantRate);
}

BENCHMARK_CAPTURE(BM_product, f32, kv::Number::f32)->Arg(1)->Arg(64);
BENCHMARK_CAPTURE(BM_product, f16, kv::Number::f16)->Arg(1)->Arg(64);

// The same with weights of a byte or half a byte.
void BM_quantised(benchmark::State& state, kv::model::Quantisation kind) {
  constexpr std::size_t rows = 3072;
  constexpr std::size_t columns = 768;
  const auto tokens = static_cast<std::size_t>(state.range(0));
  const std::size_t bytes = rows * kv::model::code_bytes(kind, columns);
  const std::size_t copies = (std::size_t{512} << 20) / bytes;
  const std::vector<std::byte> codes(bytes * copies, std::byte{0x35});
  const std::vector<float> scales(rows * kv::model::scales_of_row(kind, columns), 0.01F);
  const std::vector<float> x(tokens * columns, 0.5F);
  std::vector<float> out(tokens * rows);
  std::size_t copy = 0;
  for (auto _ : state) {
    kv::model::model_kernels().multiply_quantised(
        {kind, codes.data() + copy * bytes, scales.data(), rows, columns}, x.data(), tokens, rows,
        out.data());
    benchmark::DoNotOptimize(out.data());
    copy = (copy + 1) % copies;
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes) * state.iterations());
}

BENCHMARK_CAPTURE(BM_quantised, int8, kv::model::Quantisation::int8)->Arg(1)->Arg(64);
BENCHMARK_CAPTURE(BM_quantised, nf4, kv::model::Quantisation::nf4)->Arg(1)->Arg(64);

}  // namespace
