// The decoder's attention against the speed of memory: one query over the keys and values of all
// kv-heads, not in the caches. The counter "of_read" is the share of the rate at which the same
// bytes are read and tested for zero, in the number of streams that is fastest here: the median
// over pairs that are measured one after the other, in CPU time of this thread. "of_rows" is the
// same against reading the rows one by one in the order of their slots. "of_NAME" is the time of
// the library that KVCHECK_BENCH_GGML names, divided by ours: with fused attention, where it has it
// for these numbers, or with two products, whichever is faster.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <ctime>
#include <memory>
#include <numeric>
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

std::vector<float> normal_numbers(std::size_t n) {
  const kv::Rng rng(5);
  std::vector<float> numbers(n);
  for (std::size_t i = 0; i < n; ++i) {
    numbers[i] = static_cast<float>(rng.normal(static_cast<kv::Position>(i)));
  }
  return numbers;
}

void shuffle(std::vector<kv::Slot>& slots) {
  const kv::Rng rng(6);
  for (std::size_t i = slots.size(); i > 1; --i) {
    std::swap(slots[i - 1], slots[rng.below(i, static_cast<kv::Position>(i))]);
  }
}

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
    // Of a prime length, so that no two rows of a layer are alike.
    const std::vector<float> numbers = normal_numbers(1'000'003);
    for (std::size_t i = 0; i < copies_ * layer / size; ++i) {
      const float number = numbers[i % numbers.size()];
      const std::uint16_t half = kv::f32_to_f16(number);
      const void* const from = size == 2 ? static_cast<const void*>(&half) : &number;
      std::memcpy(memory_.data() + base_ + i * size, from, size);
    }
    slots_.resize(residents);
    std::iota(slots_.begin(), slots_.end(), 0);
    if (scattered) shuffle(slots_);
    queries_.assign(numbers.begin(),
                    numbers.begin() + static_cast<std::ptrdiff_t>(shape.heads * shape.dim));
    scale_ = 1 / std::sqrt(static_cast<float>(shape.dim));
    state_.resize(shape.heads * kv::model::attend_state);
    out_.resize(queries_.size());
  }

  void attend(std::size_t copy) { attend_to(memory_.data() + base_ + copy * layer_bytes()); }

  // Reads the same bytes and adds them up.
  void read(std::size_t copy) {
    bool any = kv::read_fastest(memory_.data() + base_ + copy * layer_bytes(), layer_bytes());
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

  // The same work by another library; empty if it has none. Both must give nearly the same output.
  std::unique_ptr<kv::GgmlPeer> peer(const std::string& library, kv::PeerWay way) {
    const bool halves = shape_.storage == kv::model::Storage::f16;
    const kv::PeerShape shape = {shape_.heads,  shape_.kv_heads, shape_.dim,
                                 slots_.size(), copies_,         halves};
    auto found =
        kv::GgmlPeer::open(library, way, shape, memory_.data() + base_, queries_.data(), scale_);
    if (found == nullptr) return found;
    const std::size_t copy = copies_ - 1;
    std::vector<std::byte> seen(memory_.data() + base_ + copy * layer_bytes(),
                                memory_.data() + base_ + (copy + 1) * layer_bytes());
    if (way == kv::PeerWay::products) transpose_values(seen);
    attend_to(seen.data());
    found->attend(copy);
    // With values in f16 ggml also rounds queries and sums to f16, in some of its ways.
    const float tolerance = halves ? 0.01F : 1e-5F;
    for (std::size_t i = 0; i < out_.size(); ++i) {
      KV_CHECK(std::abs(out_[i] - found->output()[i]) <= tolerance * (1 + std::abs(out_[i])));
    }
    return found;
  }

 private:
  [[nodiscard]] std::size_t layer_bytes() const { return 2 * bytes_ * shape_.kv_heads; }

  void attend_to(const std::byte* layer) {
    const std::size_t group = shape_.heads / shape_.kv_heads;
    for (std::size_t h = 0; h < shape_.kv_heads; ++h) {
      const std::byte* keys = layer + 2 * h * bytes_;
      const auto rows = [&](const std::byte* from) {
        return kv::model::SlotRows{shape_.storage, from, shape_.dim, slots_.data(), slots_.size()};
      };
      const std::size_t at = h * group * shape_.dim;
      const kv::model::QueryRun run{slots_.size(), queries_.data() + at};
      kv::model::attend_kernels().attend({.keys = rows(keys),
                                          .values = rows(keys + bytes_),
                                          .runs = {&run, 1},
                                          .vectors = group,
                                          .scale = scale_,
                                          .state = state_.data(),
                                          .out = out_.data() + at});
    }
    benchmark::DoNotOptimize(out_.data());
  }

  // Reads the values of a layer as [dim, residents] and stores them as [residents, dim].
  void transpose_values(std::vector<std::byte>& layer) const {
    const std::size_t size = kv::model::bytes_of(shape_.storage);
    const std::vector<std::byte> from = layer;
    for (std::size_t head = 0; head < shape_.kv_heads; ++head) {
      const std::size_t values = (2 * head + 1) * bytes_;
      for (std::size_t at = 0; at < slots_.size() * shape_.dim; ++at) {
        const std::size_t row = at / shape_.dim;
        const std::size_t other = at % shape_.dim * slots_.size() + row;
        std::memcpy(layer.data() + values + at * size, from.data() + values + other * size, size);
      }
    }
  }

  // The keys of one kv-head; its values follow.
  [[nodiscard]] const std::byte* keys_of(std::size_t copy, std::size_t head) const {
    return memory_.data() + base_ + (copy * shape_.kv_heads + head) * 2 * bytes_;
  }

  Shape shape_;
  float scale_ = 1;        // of the logits
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

BENCHMARK_CAPTURE(BM_decode, plain_f32, plain_f32, false)
    ->Arg(512)
    ->Arg(2048)
    ->Arg(4096)
    ->UseManualTime();
BENCHMARK_CAPTURE(BM_decode, plain_f16, plain_f16, false)
    ->Arg(512)
    ->Arg(2048)
    ->Arg(4096)
    ->UseManualTime();
BENCHMARK_CAPTURE(BM_decode, plain_f32_scattered, plain_f32, true)->Arg(4096)->UseManualTime();
BENCHMARK_CAPTURE(BM_decode, plain_f16_scattered, plain_f16, true)->Arg(4096)->UseManualTime();
BENCHMARK_CAPTURE(BM_decode, grouped_f32, grouped_f32, false)
    ->Arg(512)
    ->Arg(2048)
    ->Arg(4096)
    ->UseManualTime();
BENCHMARK_CAPTURE(BM_decode, grouped_f16, grouped_f16, false)
    ->Arg(512)
    ->Arg(2048)
    ->Arg(4096)
    ->UseManualTime();
BENCHMARK_CAPTURE(BM_decode, grouped_f32_scattered, grouped_f32, true)->Arg(4096)->UseManualTime();
BENCHMARK_CAPTURE(BM_decode, grouped_f16_scattered, grouped_f16, true)->Arg(4096)->UseManualTime();

}  // namespace
