// Logits of keys and weighted sums of values: every number of heads below and beyond the tiles of
// all kernels meets every width to 130 and 256 and every number of rows to 70, in rows that are not
// aligned. What a head gets does not depend on the others, so the scalar kernel computes all of
// them once.
#include <array>
#include <cstring>

#include "kvcheck/model/kernels/model_kernels.h"
#include "kvcheck/sim/cache/slots.h"
#include "kvcheck/tests/base/kernel_values.h"

namespace kv::model {
namespace {

constexpr std::array<Storage, 3> storages = {Storage::f32, Storage::f16, Storage::bf16};
constexpr std::size_t most_heads = 9;
constexpr std::size_t most_rows = 71;

struct Job {
  Job(Storage its_storage, std::size_t its_dim)
      : storage(its_storage),
        dim(its_dim),
        bytes(1 + most_rows * dim * bytes_of(storage)),
        queries(some_normals(1 + most_heads * dim, dim)),
        mass(some_normals(1 + most_heads * most_rows, dim + 1)) {
    const std::vector<float> numbers = some_normals(most_rows * dim, dim + 2);
    supported_kernels().back()->narrow(static_cast<Number>(storage), numbers.data(), numbers.size(),
                                       bytes.data() + 1);
    for (std::size_t i = 0; i < most_rows; ++i) slots.push_back(static_cast<Slot>(i * 29 % 71));
  }

  Storage storage;
  std::size_t dim;
  std::vector<std::byte> bytes;
  std::vector<float> queries;
  std::vector<float> mass;
  std::vector<Slot> slots;
};

// Logits [heads, rows], then weighted sums [heads, dim], each behind one other number.
struct Found {
  std::vector<float> logits;
  std::vector<float> sums;
};

Found computed(const ModelKernels& table, const Job& job, std::size_t count, std::size_t heads) {
  const SlotRows rows{job.storage, job.bytes.data() + 1, job.dim, job.slots.data(), count};
  Found found{std::vector<float>(1 + heads * count + 16, untouched),
              std::vector<float>(1 + heads * job.dim + 16, untouched)};
  table.logits(rows, job.queries.data() + 1, heads, 0.25F, count, found.logits.data() + 1);
  table.weigh(rows, job.mass.data() + 1, heads, most_rows, found.sums.data() + 1);
  return found;
}

void expect_agreement(const Job& job, std::size_t count) {
  const Found all = computed(*supported_model_kernels().back(), job, count, most_heads);
  for (const ModelKernels* table : supported_model_kernels()) {
    for (const std::size_t heads : {1U, 2U, 3U, 5U, 7U, 9U}) {
      const Found found = computed(*table, job, count, heads);
      ASSERT_TRUE(begins_as(found.logits, all.logits, 1 + heads * count))
          << table->name << ": logits of " << count << " rows of " << job.dim << ", " << heads
          << " heads";
      ASSERT_TRUE(begins_as(found.sums, all.sums, 1 + heads * job.dim))
          << table->name << ": sums of " << count << " rows of " << job.dim << ", " << heads
          << " heads";
    }
  }
}

TEST(SlotRows, EveryWidthIsTheSameBits) {
  for (const Storage storage : storages) {
    for (std::size_t dim = 1; dim <= 131; ++dim) {
      const Job job(storage, dim == 131 ? 256 : dim);
      for (const std::size_t count : {1U, 7U, 17U}) {
        ASSERT_NO_FATAL_FAILURE(expect_agreement(job, count));
      }
    }
  }
}

TEST(SlotRows, EveryNumberOfRowsIsTheSameBits) {
  for (const Storage storage : storages) {
    for (const std::size_t dim : {5U, 16U, 81U}) {
      const Job job(storage, dim);
      for (std::size_t count = 0; count <= 70; ++count) {
        ASSERT_NO_FATAL_FAILURE(expect_agreement(job, count));
      }
    }
  }
}

}  // namespace
}  // namespace kv::model
