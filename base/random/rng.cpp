#include "kvcheck/base/random/rng.h"

#include <cmath>
#include <numbers>

#include "kvcheck/base/check.h"
#include "kvcheck/base/kernels/kernels.h"
#include "kvcheck/base/random/philox_many.h"

namespace kv {
namespace {

constexpr std::uint64_t multiplier_0 = philox_multiplier_0;
constexpr std::uint64_t multiplier_1 = philox_multiplier_1;

std::uint32_t low(std::uint64_t x) {
  return static_cast<std::uint32_t>(x);
}

std::uint32_t high(std::uint64_t x) {
  return static_cast<std::uint32_t>(x >> 32);
}

constexpr std::uint32_t blocks_at_once = 4;
static_assert(run_of_positions % blocks_at_once == 0);

// The draws of the first positions of a run. One array for each word of the counters, so that the
// compiler computes several blocks in one register. A single block would wait for each of its
// multiplications.
void few_blocks(const PhiloxRun& run, std::uint64_t* out) {
  using Words = std::array<std::uint32_t, blocks_at_once>;
  Words a{};
  Words b{};
  Words c{};
  Words d{};
  for (std::uint32_t i = 0; i < blocks_at_once; ++i) {
    a[i] = run.index;
    b[i] = 0;
    c[i] = run.first + i;
    d[i] = run.stream;
  }
  std::uint32_t key_0 = low(run.seed);
  std::uint32_t key_1 = high(run.seed);
  for (int round = 0; round < 10; ++round) {
    for (std::size_t i = 0; i < blocks_at_once; ++i) {
      const std::uint64_t product_0 = multiplier_0 * a[i];
      const std::uint64_t product_1 = multiplier_1 * c[i];
      a[i] = high(product_1) ^ b[i] ^ key_0;
      b[i] = low(product_1);
      c[i] = high(product_0) ^ d[i] ^ key_1;
      d[i] = low(product_0);
    }
    key_0 += philox_weyl_0;
    key_1 += philox_weyl_1;
  }
  for (std::size_t i = 0; i < blocks_at_once; ++i) {
    out[i] = static_cast<std::uint64_t>(b[i]) << 32 | a[i];
  }
}

}  // namespace

std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product_0 = multiplier_0 * counter[0];
    const std::uint64_t product_1 = multiplier_1 * counter[2];
    counter = {high(product_1) ^ counter[1] ^ key[0], low(product_1),
               high(product_0) ^ counter[3] ^ key[1], low(product_0)};
    key[0] += philox_weyl_0;
    key[1] += philox_weyl_1;
  }
  return counter;
}

double open_unit(std::uint64_t bits) {
  return (static_cast<double>(bits >> 12) + 0.5) * 0x1p-52;
}

// The counter's words are index, round, position and stream; the key is the seed. Rounds above 0
// give more bits for the same draw: retries of below(), and the second uniform of normal().
std::uint64_t Rng::block(Position position, std::uint32_t index, std::uint32_t round) const {
  const auto random = philox4x32({index, round, position, stream_}, {low(seed_), high(seed_)});
  return (static_cast<std::uint64_t>(random[1]) << 32) | random[0];
}

std::uint64_t Rng::bits(Position position, std::uint32_t index) const {
  return block(position, index, 0);
}

std::array<std::uint64_t, run_of_positions> Rng::bits_of_run(Position first,
                                                             std::uint32_t index) const {
  RunBits bits{};
#ifdef __x86_64__
  // Follows the kernels, so that KV_KERNEL=scalar covers this function too.
  static const bool wide = kernels().name == "avx512";
  if (wide) {
    philox_run_avx512({seed_, stream_, first, index}, bits);
    return bits;
  }
#endif
  philox_run_plain({seed_, stream_, first, index}, bits);
  return bits;
}

void philox_run_plain(const PhiloxRun& run, RunBits& out) {
  for (std::uint32_t i = 0; i < run_of_positions; i += blocks_at_once) {
    few_blocks({run.seed, run.stream, run.first + i, run.index}, out.data() + i);
  }
}

std::uint64_t Rng::below(std::uint64_t bound, Position position, std::uint32_t index) const {
  return below_from(block(position, index, 0), bound, position, index);
}

std::uint64_t Rng::below_or_again(std::uint64_t bits,
                                  std::uint64_t bound,
                                  Position position,
                                  std::uint32_t index) const {
  KV_CHECK(bound > 0);
  __extension__ using Wide = unsigned __int128;
  // A product is rejected if its low half is below 2^64 mod bound; then every result has equally
  // many preimages. The low half is compared with the bound first, which is above that threshold
  // and needs no division.
  for (std::uint32_t round = 1;; ++round) {
    const Wide product = static_cast<Wide>(bits) * bound;
    const auto remainder = static_cast<std::uint64_t>(product);
    if (remainder >= bound || remainder >= (0 - bound) % bound) {
      return static_cast<std::uint64_t>(product >> 64);
    }
    bits = block(position, index, round);
  }
}

double Rng::uniform(Position position, std::uint32_t index) const {
  return open_unit(bits(position, index));
}

double Rng::normal(Position position, std::uint32_t index) const {
  const double radius = std::sqrt(-2.0 * std::log(uniform(position, index)));
  const double angle = open_unit(block(position, index, 1));
  return radius * std::cos(2.0 * std::numbers::pi * angle);
}

std::uint64_t seed_for(std::uint64_t seed, std::string_view name) {
  std::uint64_t hash = 0xCBF29CE484222325;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  return seed ^ hash;
}

std::uint32_t stream_of(std::size_t layer, std::size_t head) {
  KV_CHECK(layer < 65536 && head < 65536);
  return static_cast<std::uint32_t>(layer << 16 | head);
}

}  // namespace kv
