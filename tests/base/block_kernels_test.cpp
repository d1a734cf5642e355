// Dot products and weighted sums for several vectors: those of single vectors, bit by bit.
#include "kvcheck/base/kernels/block_kernels.h"

#include "kvcheck/tests/base/kernel_values.h"

namespace kv {
namespace {

class EveryBlockKernel : public testing::TestWithParam<const BlockKernels*> {
 protected:
  const BlockKernels& kernel_ = *GetParam();
};

constexpr std::size_t most_vectors = 9;

// Every number of vectors from 0 to 9 meets every kind of tail in rows and columns.
const std::vector<std::size_t> widths = {1, 15, 16, 17, 63, 64, 80, 100, 128, 130};
const std::vector<std::size_t> row_counts = {0, 1, 3, 4, 5, 31, 32, 33, 70};

TEST_P(EveryBlockKernel, DotsAreThoseOfSingleVectors) {
  for (const std::size_t dim : widths) {
    for (const std::size_t n : row_counts) {
      for (std::size_t count = 0; count <= most_vectors; ++count) {
        const Values vectors(dim, count * dim);
        const Values rows(n + 7, n * dim, 3);
        const std::size_t stride = n + 5;
        Values requested(1, count * stride);
        Values found = requested;
        for (std::size_t t = 0; t < count; ++t) {
          scalar().dot_rows(vectors.data() + t * dim, rows.data(), n, dim, 0.3F,
                            requested.data() + t * stride);
        }
        kernel_.dot_rows(vectors.data(), count, {rows.data(), n, dim}, 0.3F,
                         {found.data(), stride});
        ASSERT_EQ(found.bits(), requested.bits()) << count << " vectors, " << n << " x " << dim;
      }
    }
  }
}

// The limits rise, fall, and reach all rows or none of them.
std::vector<std::size_t> limits_of(std::size_t count, std::size_t n, std::size_t kind) {
  std::vector<std::size_t> limits;
  for (std::size_t t = 0; t < count; ++t) {
    const std::size_t left = t < n ? n - t : 0;
    limits.push_back(kind == 0 ? left : kind == 1 ? n - left : t % 3 == 0 ? n : 0);
  }
  return limits;
}

TEST_P(EveryBlockKernel, WeightedSumsAreThoseOfSingleVectorsWithTheirLimits) {
  for (const std::size_t dim : widths) {
    for (const std::size_t n : row_counts) {
      for (std::size_t count = 0; count <= most_vectors; ++count) {
        for (std::size_t kind = 0; kind < 3; ++kind) {
          const std::size_t stride = n + 2;
          const Values weights(dim + n, count * stride);
          const Values rows(n + 9, n * dim, 2);
          const std::vector<std::size_t> limits = limits_of(count, n, kind);
          Values requested(4, count * dim);
          Values found(5, count * dim);
          for (std::size_t t = 0; t < count; ++t) {
            scalar().weigh_rows(weights.data() + t * stride, rows.data(), limits[t], dim,
                                requested.data() + t * dim);
          }
          kernel_.weigh_rows({weights.data(), stride}, limits.data(), count, {rows.data(), n, dim},
                             found.data());
          ASSERT_EQ(found.bits(), requested.bits())
              << count << " vectors, " << n << " x " << dim << ", limits " << kind;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(ThisMachine,
                         EveryBlockKernel,
                         testing::ValuesIn(supported_block_kernels().begin(),
                                           supported_block_kernels().end()),
                         [](const auto& tested) { return std::string(tested.param->name); });

}  // namespace
}  // namespace kv
