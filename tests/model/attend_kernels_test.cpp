// The one-pass attention: bit for bit the scalar one at every length, tail, storage and number of
// vectors, and right against a double-precision oracle (Eigen).
#include "kvcheck/model/kernels/attend_kernels.h"
#include "kvcheck/sim/cache/slots.h"

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cstring>

#include "kvcheck/base/half.h"
#include "kvcheck/base/random/rng.h"

namespace kv::model {
namespace {

using Numbers = std::vector<float>;
using Doubles = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Floats = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr std::array<Storage, 4> all_storages = {Storage::f32, Storage::f16, Storage::bf16,
                                                 Storage::int8};
constexpr std::size_t all_slots = 263;
constexpr float scale = 0.25F;

Numbers draws(std::size_t count, std::uint64_t seed) {
  const Rng rng(seed);
  Numbers values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = static_cast<float>(rng.normal(static_cast<Position>(i)));
  }
  return values;
}

// Keys or values as stored, and as they are then read.
struct Rows {
  Storage storage;
  std::size_t dim;
  std::vector<std::byte> bytes;
  Numbers scales;
  Doubles read;

  Rows(Storage its_storage, std::size_t its_dim, std::uint64_t seed)
      : storage(its_storage), dim(its_dim) {
    const Numbers values = draws(all_slots * dim, seed);
    bytes.resize(values.size() * bytes_of(storage));
    Numbers widened(values.size());
    if (storage == Storage::int8) {
      store_int8(values, widened);
    } else {
      store_floats(values);
      kernels().widen(static_cast<Number>(storage), bytes.data(), widened.size(), widened.data());
    }
    read = Eigen::Map<const Floats>(widened.data(), all_slots, static_cast<Eigen::Index>(dim))
               .cast<double>();
  }

 private:
  void store_floats(const Numbers& values) {
    const std::size_t size = bytes_of(storage);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::uint16_t half =
          storage == Storage::f16 ? f32_to_f16(values[i]) : f32_to_bf16(values[i]);
      const void* from = size == 4 ? static_cast<const void*>(&values[i]) : &half;
      std::memcpy(bytes.data() + i * size, from, size);
    }
  }

  // Any scales and whole numbers will do.
  void store_int8(const Numbers& values, Numbers& widened) {
    for (std::size_t slot = 0; slot < all_slots; ++slot) {
      scales.push_back(0.01F + 0.001F * static_cast<float>(slot % 7));
      for (std::size_t i = slot * dim; i < (slot + 1) * dim; ++i) {
        const auto whole = static_cast<std::int8_t>(std::clamp(values[i] * 60, -127.0F, 127.0F));
        std::memcpy(bytes.data() + i, &whole, 1);
        widened[i] = static_cast<float>(whole) * scales.back();
      }
    }
  }
};

// A case: rows in scattered slots, vectors that see some of them, queries that change on the way.
struct Case {
  Rows keys;
  Rows values;
  std::vector<Slot> slots;
  std::vector<std::size_t> limits;
  std::vector<Numbers> queries;  // by run
  std::vector<QueryRun> runs;

  Case(std::size_t count, std::size_t vectors, std::size_t dim, Storage storage, std::size_t pieces)
      : keys(storage, dim, 2000 + count), values(storage, dim, 4000 + count) {
    for (std::size_t i = 0; i < count; ++i) {
      slots.push_back(static_cast<Slot>(i * 97 % all_slots));
    }
    for (std::size_t v = 0; v < vectors; ++v) {
      limits.push_back(pieces == 1 ? count : 1 + (v * 61 + 7) % count);
    }
    for (std::size_t i = 0; i < pieces; ++i) {
      queries.push_back(draws(vectors * dim, 6000 + count + i));
    }
    for (std::size_t i = 0; i < pieces; ++i) {
      runs.push_back({(i + 1) * count / pieces, queries[i].data()});
    }
  }

  [[nodiscard]] std::size_t vectors() const { return limits.size(); }
};

struct Attended {
  Numbers logits;
  Numbers out;

  // Bit by bit: 0 is not -0.
  bool operator==(const Attended& other) const {
    const auto same = [](const Numbers& a, const Numbers& b) {
      return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
    };
    return same(logits, other.logits) && same(out, other.out);
  }
};

Attended attended(const AttendKernels& table, const Case& given) {
  const std::size_t count = given.slots.size();
  const std::size_t dim = given.keys.dim;
  Attended result{Numbers(given.vectors() * count, -1), Numbers(given.vectors() * dim, -1)};
  Numbers state(given.vectors() * attend_state);
  const auto rows = [&](const Rows& of) {
    return SlotRows{of.storage, of.bytes.data(), dim, given.slots.data(), count, of.scales.data()};
  };
  table.attend({.keys = rows(given.keys),
                .values = rows(given.values),
                .runs = given.runs,
                .vectors = given.vectors(),
                .limits = given.limits.data(),
                .scale = scale,
                .logits = result.logits.data(),
                .stride = count,
                .state = state.data(),
                .out = result.out.data()});
  return result;
}

// Softmax in double, then the weighted rows.
void expect_right(const Attended& found, const Case& given, std::size_t v) {
  const std::size_t dim = given.keys.dim;
  const auto width = static_cast<Eigen::Index>(dim);
  const auto limit = static_cast<Eigen::Index>(given.limits[v]);
  Eigen::VectorXd logits(limit);
  std::size_t run = 0;
  for (Eigen::Index i = 0; i < limit; ++i) {
    while (static_cast<std::size_t>(i) >= given.runs[run].end) ++run;
    const Eigen::VectorXd query =
        Eigen::Map<const Eigen::VectorXf>(given.runs[run].queries + v * dim, width).cast<double>();
    logits[i] = static_cast<double>(scale) *
                given.keys.read.row(given.slots[static_cast<std::size_t>(i)]).dot(query);
    const float reported = found.logits[v * given.slots.size() + static_cast<std::size_t>(i)];
    ASSERT_NEAR(static_cast<double>(reported), logits[i], 1e-4);
  }
  const Eigen::VectorXd mass = (logits.array() - logits.maxCoeff()).exp();
  Eigen::VectorXd out = Eigen::VectorXd::Zero(width);
  for (Eigen::Index i = 0; i < limit; ++i) {
    out += mass[i] * given.values.read.row(given.slots[static_cast<std::size_t>(i)]).transpose();
  }
  out /= mass.sum();
  for (Eigen::Index j = 0; j < width; ++j) {
    const float reported = found.out[v * dim + static_cast<std::size_t>(j)];
    ASSERT_NEAR(static_cast<double>(reported), out[j], 2e-5) << "number " << j;
  }
}

void expect_agreement(const Case& given) {
  const Attended expected = attended(*supported_attend_kernels().back(), given);
  for (const AttendKernels* table : supported_attend_kernels()) {
    ASSERT_EQ(attended(*table, given), expected) << table->name;
  }
  for (std::size_t v = 0; v < given.vectors(); ++v) expect_right(expected, given, v);
}

TEST(AttendKernels, ExistForEveryKindOfMachine) {
  const std::span<const AttendKernels* const> tables = supported_attend_kernels();
  ASSERT_EQ(tables.size(), supported_kernels().size());
  for (std::size_t i = 0; i < tables.size(); ++i) {
    EXPECT_EQ(tables[i]->name, supported_kernels()[i]->name);
    EXPECT_EQ(tables[i]->attend == tables.back()->attend, i + 1 == tables.size());
  }
  EXPECT_EQ(attend_kernels().name, kernels().name);
}

TEST(AttendKernels, AgreeAtEveryLength) {
  ASSERT_EQ(supported_attend_kernels().back()->name, "scalar");
  for (std::size_t count = 1; count <= 257; ++count) {
    const std::size_t dim = count % 3 == 0 ? 64 : 16 * (1 + count % 5);
    const Case given(count, 1 + count % 9, dim, all_storages[count % 4], 1);
    ASSERT_NO_FATAL_FAILURE(expect_agreement(given)) << count << " rows of " << dim;
  }
}

TEST(AttendKernels, AgreeAtEveryTailAndStorage) {
  for (std::size_t dim = 1; dim <= 130; ++dim) {
    for (const Storage storage : all_storages) {
      const Case given(40 + dim % 40, 1 + dim % 7, dim, storage, 1);
      ASSERT_NO_FATAL_FAILURE(expect_agreement(given)) << "rows of " << dim;
    }
  }
}

TEST(AttendKernels, EachVectorSeesItsOwnRowsThroughItsOwnQueries) {
  for (std::size_t count = 5; count <= 200; count += 13) {
    for (const std::size_t pieces : {2U, 5U}) {
      const Case given(count, 11, 24, all_storages[count % 4], pieces);
      ASSERT_NO_FATAL_FAILURE(expect_agreement(given)) << count << " rows, " << pieces << " runs";
    }
  }
}

// Logits in the hundreds, growing all the way: every tile rescales what came before.
TEST(AttendKernels, GrowingLogitsAgree) {
  Case given(256, 4, 16, Storage::f32, 1);
  for (std::size_t i = 0; i < 256; ++i) {
    for (std::size_t j = 0; j < 16; ++j) {
      const float value = j == 0 ? static_cast<float>(i) : 0;
      std::memcpy(given.keys.bytes.data() + (std::size_t{given.slots[i]} * 16 + j) * 4, &value, 4);
      given.keys.read(given.slots[i], static_cast<Eigen::Index>(j)) = static_cast<double>(value);
    }
  }
  std::fill(given.queries[0].begin(), given.queries[0].end(), 7.0F);
  expect_agreement(given);
}

// Numbers of all sizes: an emulation of fused products has to round right however far the product
// and the sum are apart.
TEST(AttendKernels, FusedProductsOfAllSizesAgree) {
  const Rng rng(77);
  const auto sized = [&](std::size_t i, std::uint32_t stream) {
    const auto at = static_cast<Position>(i);
    const auto exponent = static_cast<int>(rng.below(120, at, stream)) - 60;
    return std::ldexp(static_cast<float>(rng.uniform(at, stream + 1)) - 0.5F, exponent);
  };
  for (std::uint32_t round = 0; round < 40; ++round) {
    Case given(64, 3, 64, Storage::f32, 1);
    for (std::size_t i = 0; i < given.queries[0].size(); ++i) {
      given.queries[0][i] = sized(i, 8 * round);
    }
    for (std::size_t i = 0; i < all_slots * 64; ++i) {
      const float key = sized(i, 8 * round + 2);
      const float value = sized(i, 8 * round + 4);
      std::memcpy(given.keys.bytes.data() + 4 * i, &key, 4);
      std::memcpy(given.values.bytes.data() + 4 * i, &value, 4);
    }
    const Attended expected = attended(*supported_attend_kernels().back(), given);
    for (const AttendKernels* table : supported_attend_kernels()) {
      ASSERT_EQ(attended(*table, given), expected) << table->name;
    }
  }
}

// Products so small that they are -0 as they are rounded, at every tail and for vectors that see
// different rows.
TEST(AttendKernels, ProductsThatUnderflowAgree) {
  constexpr std::size_t count = 24;
  for (std::size_t dim = 1; dim <= 48; ++dim) {
    Case given(count, 7, dim, Storage::f32, 1);
    given.limits = {1, 3, count, 17, 16, 2, 5};
    std::fill(given.queries[0].begin(), given.queries[0].end(), 1e-30F);
    const Numbers keys(all_slots * dim, -1e-30F);
    std::memcpy(given.keys.bytes.data(), keys.data(), given.keys.bytes.size());
    for (std::size_t i = 0; i < count; ++i) {
      const Numbers values(dim, i < 3 ? -1e-45F : i % 2 == 0 ? -0.0F : 1e-45F);
      std::memcpy(given.values.bytes.data() + std::size_t{given.slots[i]} * dim * sizeof(float),
                  values.data(), dim * sizeof(float));
    }
    const Attended expected = attended(*supported_attend_kernels().back(), given);
    for (const AttendKernels* table : supported_attend_kernels()) {
      ASSERT_EQ(attended(*table, given), expected) << table->name << ", rows of " << dim;
    }
  }
}

// A result is the same whichever vectors go together.
TEST(AttendKernels, AVectorAloneGetsTheSameBits) {
  const Case all(150, 7, 40, Storage::f16, 1);
  const Attended together = attended(attend_kernels(), all);
  Case alone(150, 1, 40, Storage::f16, 1);
  for (std::size_t v = 0; v < 7; ++v) {
    const auto begin = all.queries[0].begin() + static_cast<std::ptrdiff_t>(v * 40);
    std::copy_n(begin, 40, alone.queries[0].begin());
    const Numbers out = attended(attend_kernels(), alone).out;
    EXPECT_TRUE(std::equal(out.begin(), out.end(),
                           together.out.begin() + static_cast<std::ptrdiff_t>(v * 40)));
  }
}

}  // namespace
}  // namespace kv::model
