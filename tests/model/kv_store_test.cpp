// What a store gives back of the vectors that were put into it.
#include "kvcheck/model/storage/kv_store.h"

#include <cmath>

#include "kvcheck/base/random/rng.h"

namespace kv::model {
namespace {

KvFormat int8() {
  return parse_kv_format("int8").value();
}

std::vector<float> vector_of(std::size_t dim, float size, std::uint64_t seed) {
  const Rng rng(seed);
  std::vector<float> values(dim);
  for (std::size_t i = 0; i < dim; ++i) {
    values[i] = size * static_cast<float>(rng.normal(static_cast<Position>(i)));
  }
  return values;
}

float largest(const std::vector<float>& values) {
  float most = 0;
  for (const float value : values) most = std::max(most, std::abs(value));
  return most;
}

TEST(KvStore, Int8IsOffByHalfAStepOfEachVectorsOwnScale) {
  constexpr std::size_t dim = 33;
  KvStore store(int8(), dim);
  store.reserve(40);
  std::vector<float> read(dim);
  float furthest = 0;  // in steps
  for (Slot slot = 0; slot < 40; ++slot) {
    const auto key = vector_of(dim, std::pow(10.0F, static_cast<float>(slot % 9) - 4), slot);
    const auto value = vector_of(dim, 3, 100 + slot);
    store.put(slot, key.data(), value.data());
    store.key(slot, read.data());
    const float step = largest(key) / 127;
    for (std::size_t i = 0; i < dim; ++i) {
      const float off = std::abs(read[i] - key[i]) / step;
      ASSERT_LE(off, 0.501F);
      furthest = std::max(furthest, off);
    }
    store.value(slot, read.data());
    for (std::size_t i = 0; i < dim; ++i) {
      ASSERT_LE(std::abs(read[i] - value[i]), 0.501F * largest(value) / 127);
    }
  }
  EXPECT_GT(furthest, 0.4F);  // a bound that is nearly met
}

TEST(KvStore, Int8KeepsZeroAndTheLargestNumber) {
  KvStore store(int8(), 3);
  store.reserve(2);
  const std::vector<float> zero = {0, 0, 0};
  const std::vector<float> key = {-127, 64, 0};
  store.put(1, key.data(), zero.data());
  std::vector<float> read(3);
  store.key(1, read.data());
  EXPECT_EQ(read, key);
  store.value(1, read.data());
  EXPECT_EQ(read, zero);
}

TEST(KvStore, BytesCountTheScales) {
  KvStore store(int8(), 64);
  store.reserve(10);
  EXPECT_EQ(store.bytes(), std::size_t{10} * 2 * (64 + sizeof(float)));
  KvStore halves(Number::f16, 64);
  halves.reserve(10);
  EXPECT_EQ(halves.bytes(), 10 * 2 * 64 * 2);
  halves.reserve(11);  // its room grows by more
  EXPECT_EQ(halves.bytes(), 11 * 2 * 64 * 2);
}

}  // namespace
}  // namespace kv::model
