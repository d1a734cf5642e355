// The decoder's kernels against the speed of memory: one query's attention over the keys and values
// of all kv-heads, not in the caches, and the product of one token with a matrix. The counter
// "of_read" is the share of the rate at which the same bytes are read and tested for zero, in the
// number of streams that is fastest here: the median over pairs that are measured one after the
// other, in CPU time of this thread. "of_rows" is the same against reading the rows one by one in
// the order of their slots. "of_NAME" is the time of the library that KVCHECK_BENCH_GGML names,
// divided by ours, where it computes the same: with fused attention or with two products, whichever
// is faster.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <ctime>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kvcheck/base/aligned_floats.h"
#include "kvcheck/base/check.h"
#include "kvcheck/base/half.h"
#include "kvcheck/base/random/rng.h"
#include "kvcheck/bench/ggml_peer.h"
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
                                          .scale = scale,
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
        for (const kv::Slot slot : slots_) any |= kv::kernels().any_bit(rows + slot * row, row, 0);
      }
    }
    benchmark::DoNotOptimize(any);
  }

  [[nodiscard]] std::size_t copies() const { return copies_; }

  // The same work by another library; empty if it has none. Both must give nearly the same output,
  // where it reads the same values.
  std::unique_ptr<kv::GgmlPeer> peer(const std::string& library, kv::PeerWay way) {
    const kv::PeerShape shape = {shape_.heads, shape_.kv_heads,
                                 shape_.dim,   slots_.size(),
                                 copies_,      shape_.storage == kv::model::Storage::f16};
    auto found =
        kv::GgmlPeer::open(library, way, shape, memory_.data() + base_, queries_.data(), scale);
    if (found == nullptr || way == kv::PeerWay::products) return found;
    attend(0);
    found->attend(0);
    const std::vector<float>& theirs = found->output();
    for (std::size_t i = 0; i < out_.size(); ++i) {
      // ggml rounds sums to f16 where values are.
      constexpr float tolerance = 0.01F;
      KV_CHECK(std::abs(out_[i] - theirs[i]) <= tolerance);
    }
    return found;
  }

 private:
  // Of the logits.
  static constexpr float scale = 0.1F;

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
  kv::AlignedFloats queries_;
  std::vector<float> state_;
  std::vector<float> out_;
};

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Another library, and its times divided by ours.
struct Rival {
  std::string name;
  std::unique_ptr<kv::GgmlPeer> peer;
  std::vector<double> ratios;
};

// Libraries read rows in their order alone.
std::vector<Rival> rivals_of(Layers& layers, bool scattered) {
  std::vector<Rival> found;
  for (const kv::NamedLibrary& library : kv::ggml_libraries()) {
    for (const kv::PeerWay way : {kv::PeerWay::fused, kv::PeerWay::products}) {
      auto peer = scattered ? nullptr : layers.peer(library.file, way);
      if (peer != nullptr) found.push_back({library.name, std::move(peer), {}});
    }
  }
  return found;
}

void BM_decode(benchmark::State& state, const Shape& shape, bool scattered) {
  Layers layers(shape, static_cast<std::size_t>(state.range(0)), scattered);
  std::vector<Rival> rivals = rivals_of(layers, scattered);
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
    for (Rival& rival : rivals) {
      const double theirs = cpu_seconds();
      rival.peer->attend(copy);
      rival.ratios.push_back((cpu_seconds() - theirs) / time);
      copy = (copy + 1) % layers.copies();
    }
  }
  state.counters["of_read"] = median(shares);
  state.counters["of_rows"] = median(row_shares);
  // Of the two ways of a library the faster one counts.
  for (const Rival& rival : rivals) {
    const double ratio = median(rival.ratios);
    const auto [counter, first] = state.counters.try_emplace("of_" + rival.name, ratio);
    if (!first) counter->second = std::min<double>(counter->second, ratio);
  }
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

// The rate at which so many MiB are read, which bounds products of one token. The caches hold a
// part of what is small.
void BM_read(benchmark::State& state) {
  const std::vector<std::byte> memory(static_cast<std::size_t>(state.range(0)) << 20, std::byte{1});
  kv::fastest_streams();  // which would otherwise be measured in the first iteration
  for (auto _ : state) {
    bool any = kv::read_fastest(memory.data(), memory.size());
    benchmark::DoNotOptimize(any);
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(memory.size()) * state.iterations());
}

BENCHMARK(BM_read)->ArgsProduct(
    {{64, 72, 80, 88, 96, 104, 112, 120, 128, 160, 192, 208, 256, 320, 384, 416, 512}});

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
