// Attention at every number of residents to 130, every head size to 130 and 256, and every place
// where queries change: for all storages, and with rows, queries and results that are not aligned.
// What a vector gets does not depend on the others, so the scalar kernel computes all of them once.
#include "kvcheck/model/kernels/attend_kernels.h"
#include "kvcheck/sim/cache/slots.h"

#include <array>
#include <cstring>

#include "kvcheck/tests/base/kernel_values.h"

namespace kv::model {
namespace {

constexpr std::array<Storage, 4> all_storages = {Storage::f32, Storage::f16, Storage::bf16,
                                                 Storage::int8};
constexpr std::size_t most_vectors = 7;
// Blocks of one, two and four vectors, and all of them together.
constexpr std::array<std::size_t, 4> vector_counts = {1, 2, 3, most_vectors};
constexpr std::size_t most_rows = 131;

// Keys or values of 131 slots behind one other byte.
struct Rows {
  Rows(Storage its_storage, std::size_t its_dim, std::uint64_t seed)
      : storage(its_storage), dim(its_dim), bytes(1 + most_rows * dim * bytes_of(storage)) {
    const std::vector<float> numbers = some_normals(most_rows * dim, seed);
    for (std::size_t slot = 0; slot < most_rows; ++slot) {
      scales.push_back(0.01F + 0.001F * static_cast<float>(slot % 7));
    }
    if (storage != Storage::int8) {
      supported_kernels().back()->narrow(static_cast<Number>(storage), numbers.data(),
                                         numbers.size(), bytes.data() + 1);
      return;
    }
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const float whole = std::min(std::max(numbers[i] * 50, -127.0F), 127.0F);
      bytes[1 + i] = static_cast<std::byte>(static_cast<std::int8_t>(whole));
    }
  }

  [[nodiscard]] SlotRows first(const std::vector<Slot>& slots, std::size_t count) const {
    return {storage, bytes.data() + 1, dim, slots.data(), count, scales.data()};
  }

  Storage storage;
  std::size_t dim;
  std::vector<std::byte> bytes;
  std::vector<float> scales;
};

// Which of the rows and vectors take part, and where the queries change.
struct Size {
  std::size_t count;
  std::size_t vectors;
  std::size_t change;    // the second run begins here; count: there is one run
  bool limited = false;  // vectors see different numbers of rows
  bool reported = true;  // logits are requested
};

struct Job {
  Rows keys;
  Rows values;
  std::vector<Slot> slots;
  std::vector<float> first_queries;
  std::vector<float> second_queries;

  Job(Storage storage, std::size_t dim)
      : keys(storage, dim, dim),
        values(storage, dim, 1000 + dim),
        first_queries(some_normals(1 + most_vectors * dim, 2000 + dim)),
        second_queries(some_normals(1 + most_vectors * dim, 3000 + dim)) {
    for (std::size_t i = 0; i < most_rows; ++i) slots.push_back(static_cast<Slot>(i * 61 % 131));
  }
};

// Bits of logits and of results, each behind one other number.
struct Found {
  std::vector<float> logits;
  std::vector<float> out;
};

Found attended(const AttendKernels& table, const Job& job, const Size& size) {
  const std::size_t dim = job.keys.dim;
  std::vector<std::size_t> limits;
  for (std::size_t v = 0; v < size.vectors; ++v) {
    limits.push_back(size.limited ? 1 + (v * 37 + 11) % size.count : size.count);
  }
  std::vector<QueryRun> runs = {{size.change, job.first_queries.data() + 1}};
  if (size.change < size.count) runs.push_back({size.count, job.second_queries.data() + 1});
  Found found{std::vector<float>(1 + size.vectors * size.count + 16, untouched),
              std::vector<float>(1 + size.vectors * dim + 16, untouched)};
  std::vector<float> state(1 + size.vectors * attend_state);
  table.attend({.keys = job.keys.first(job.slots, size.count),
                .values = job.values.first(job.slots, size.count),
                .runs = runs,
                .vectors = size.vectors,
                .limits = size.limited ? limits.data() : nullptr,
                .scale = 0.25F,
                .logits = size.reported ? found.logits.data() + 1 : nullptr,
                .stride = size.count,
                .state = state.data() + 1,
                .out = found.out.data() + 1});
  return found;
}

void expect_agreement(const Job& job, Size size) {
  size.vectors = most_vectors;
  const Found all = attended(*supported_attend_kernels().back(), job, size);
  for (const AttendKernels* table : supported_attend_kernels()) {
    for (const std::size_t vectors : vector_counts) {
      for (const bool reported : {true, false}) {
        if (!reported && vectors != 3) continue;
        size.vectors = vectors;
        size.reported = reported;
        const Found found = attended(*table, job, size);
        ASSERT_TRUE(begins_as(found.out, all.out, 1 + vectors * job.keys.dim))
            << table->name << ": " << size.count << " rows of " << job.keys.dim << ", " << vectors
            << " vectors, queries change at " << size.change;
        ASSERT_TRUE(begins_as(found.logits, all.logits, reported ? 1 + vectors * size.count : 0))
            << table->name << ": " << size.count << " rows of " << job.keys.dim << ", " << vectors
            << " vectors, queries change at " << size.change;
      }
    }
  }
}

TEST(AttendSizes, EveryNumberOfResidentsIsTheSameBits) {
  for (const Storage storage : all_storages) {
    for (const std::size_t dim : {7U, 33U}) {
      const Job job(storage, dim);
      for (std::size_t count = 1; count <= 130; ++count) {
        ASSERT_NO_FATAL_FAILURE(
            expect_agreement(job, {.count = count, .vectors = 0, .change = count}));
      }
    }
  }
}

TEST(AttendSizes, EveryHeadSizeIsTheSameBits) {
  for (const Storage storage : all_storages) {
    for (std::size_t dim = 1; dim <= 131; ++dim) {
      const Job job(storage, dim == 131 ? 256 : dim);
      for (const std::size_t count : {1U, 15U, 33U}) {
        ASSERT_NO_FATAL_FAILURE(
            expect_agreement(job, {.count = count, .vectors = 0, .change = count}));
      }
    }
  }
}

TEST(AttendSizes, QueriesThatChangeAtAnyRowAreTheSameBits) {
  for (const Storage storage : all_storages) {
    const Job job(storage, 24);
    for (const std::size_t count : {20U, 49U}) {
      for (std::size_t change = 1; change <= count; ++change) {
        for (const bool limited : {true, false}) {
          ASSERT_NO_FATAL_FAILURE(expect_agreement(
              job, {.count = count, .vectors = 0, .change = change, .limited = limited}));
        }
      }
    }
  }
}

}  // namespace
}  // namespace kv::model
