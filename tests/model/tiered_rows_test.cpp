// The bound on the error of codes, tried on random vectors: no error in full precision, otherwise
// at most half the step of the number's own group. Tokens that are added, quantised or evicted
// later do not change it.
#include "kvcheck/model/storage/tiered_rows.h"

#include <cmath>
#include <map>

#include "kvcheck/base/random/rng.h"

namespace kv::model {
namespace {

KvFormat format_of(std::string_view words) {
  return parse_kv_format(words).value();
}

// Channels of very different sizes, as keys have them: a step of another group shows.
std::vector<float> vector_of(std::size_t dim, std::uint64_t seed) {
  const Rng rng(seed);
  std::vector<float> vector(dim);
  for (std::size_t i = 0; i < dim; ++i) {
    const double size = std::pow(10.0, static_cast<double>(i % 37 / 6) - 3);
    vector[i] = static_cast<float>(size * (rng.normal(static_cast<Position>(i)) + 2));
  }
  return vector;
}

// Rows, and what was put into them.
struct Watched {
  TieredRows rows;
  std::size_t dim;
  std::map<Slot, std::vector<float>> fed{};
  double furthest = 0;  // in steps

  void put(Slot slot, std::uint64_t seed) {
    fed[slot] = vector_of(dim, seed);
    rows.put(slot, fed[slot].data());
  }

  [[nodiscard]] std::vector<float> read(Slot slot) const {
    std::vector<float> out(dim);
    rows.read(slot, out.data());
    return out;
  }

  void check() {
    for (const auto& [slot, vector] : fed) {
      const std::vector<float> held = read(slot);
      if (rows.is_full(slot)) {
        ASSERT_EQ(held, vector) << slot;
        continue;
      }
      for (std::size_t i = 0; i < dim; ++i) {
        const double step = rows.steps_of(slot, i).step;
        const double off = std::abs(static_cast<double>(held[i]) - vector[i]);
        ASSERT_LE(off, step * 0.500001 + std::abs(vector[i]) * 6e-8) << slot << " " << i;
        furthest = std::max(furthest, off / step);
      }
    }
  }
};

// Vectors come, are lowered and go at random; each is checked after every step.
void run(std::string_view words, bool shares, std::size_t dim) {
  Watched watched{TieredRows(format_of(words), shares, dim), dim};
  const Rng rng(dim + words.size());
  for (Position step = 0; step < 300; ++step) {
    const auto slot = static_cast<Slot>(rng.below(24, step, 0));
    watched.put(slot, step);
    if (step % 5 == 4) {
      std::vector<Slot> together;
      for (const auto& [other, vector] : watched.fed) {
        if (rng.below(3, step, 1 + other) == 0) together.push_back(other);
      }
      watched.rows.lower(together);
      for (const Slot lowered : together) ASSERT_FALSE(watched.rows.is_full(lowered));
    }
    ASSERT_NO_FATAL_FAILURE(watched.check()) << words << " " << step;
  }
  // A vector of one number is the end of its own range.
  if (dim > 1) {
    EXPECT_GT(watched.furthest, 0.45) << words;
  }
}

TEST(TieredRows, LoseAtMostHalfAStepOfTheirOwnGroup) {
  for (const std::size_t dim : {1U, 7U, 32U, 33U, 64U, 80U}) {
    for (const std::string_view words :
         {"int8:recent=4", "int8:group=32", "int8:group=8", "int4", "int4:group=0", "int4:group=16",
          "kivi4", "kivi2", "kivi2:group=5"}) {
      run(words, false, dim);
    }
    run("kivi4", true, dim);
    run("kivi2", true, dim);
  }
}

TEST(TieredRows, AreLoweredOnce) {
  for (const bool shares : {false, true}) {
    Watched watched{TieredRows(format_of("kivi2"), shares, 40), 40};
    for (Slot slot = 0; slot < 3; ++slot) watched.put(slot, slot);
    watched.rows.lower(std::vector<Slot>{0, 1});
    const auto before = watched.read(0);
    watched.rows.lower(std::vector<Slot>{0, 1, 2});
    EXPECT_EQ(watched.read(0), before);
    EXPECT_FALSE(watched.rows.is_full(2));
  }
}

TEST(TieredRows, SharedStepsOutliveTheFirstTokenEvicted) {
  Watched watched{TieredRows(format_of("kivi4"), true, 32), 32};
  for (Slot slot = 0; slot < 4; ++slot) watched.put(slot, slot);
  watched.rows.lower(std::vector<Slot>{0, 1, 2, 3});
  const auto kept = watched.read(3);
  const std::size_t bytes = watched.rows.bytes();
  for (std::uint64_t round = 0; round < 3; ++round) {
    for (Slot slot = 0; slot < 3; ++slot) watched.put(slot, 10 + 3 * round + slot);
    watched.rows.lower(std::vector<Slot>{0, 1, 2});
    EXPECT_EQ(watched.read(3), kept);
  }
  // The steps of the first four, of the last three, and room for one more.
  const std::size_t steps = 32 * 4;
  EXPECT_LE(watched.rows.bytes(), bytes + 2 * steps);
}

TEST(TieredRows, AVectorThatIsReplacedRemainsInItsTier) {
  Watched watched{TieredRows(format_of("int4"), false, 48), 48};
  watched.put(0, 1);
  watched.put(1, 2);
  watched.rows.lower(std::vector<Slot>{1});
  for (Slot slot = 0; slot < 2; ++slot) {
    watched.fed[slot] = vector_of(48, 7 + slot);
    watched.rows.replace(slot, watched.fed[slot].data());
  }
  watched.check();
  EXPECT_TRUE(watched.rows.is_full(0));
  EXPECT_FALSE(watched.rows.is_full(1));
}

// Bytes of 64 vectors, all lowered, per vector, and of those that wait in full precision.
std::size_t bytes_of_64(std::string_view words, bool shares, std::size_t dim, bool lowered) {
  Watched watched{TieredRows(format_of(words), shares, dim), dim};
  std::vector<Slot> slots;
  for (Slot slot = 0; slot < 64; ++slot) {
    watched.put(slot, slot);
    slots.push_back(slot);
    if (lowered && !shares) watched.rows.lower(std::vector<Slot>{slot});
    if (lowered && shares && slot % 32 == 31) watched.rows.lower(std::span(slots).last(32));
  }
  return watched.rows.bytes();
}

TEST(TieredRows, BytesCountCodesStepsZeroPointsAndFullVectors) {
  const auto between = [](std::size_t bytes, std::size_t exact, std::size_t waiting) {
    EXPECT_GE(bytes, exact);
    EXPECT_LE(bytes, exact * 9 / 8 + waiting);
  };
  // Lowered one by one, one row waits in full precision; in groups of 32, up to 36.
  between(bytes_of_64("int4", false, 64, true), 64 * (32 + 2 * 2), 64 * 4);
  between(bytes_of_64("int4:group=0", false, 64, true), 64 * (32 + 4), 64 * 4);
  between(bytes_of_64("int8:group=32", false, 64, true), 64 * (64 + 2 * 2), 64 * 4);
  between(bytes_of_64("kivi4", false, 64, true), 64 * (32 + 2 * 4), 64 * 4);
  between(bytes_of_64("kivi2", false, 64, true), 64 * (16 + 2 * 4), 64 * 4);
  between(bytes_of_64("kivi2", true, 64, true), 64 * 16 + 2 * 64 * 4 + 32 * 64 * 4, 4 * 64 * 4);
  between(bytes_of_64("int4", false, 64, false), 64 * 64 * 4, 0);
  between(bytes_of_64("int4:recent=1,full=f16", false, 64, false), 64 * 64 * 2, 0);
}

}  // namespace
}  // namespace kv::model
