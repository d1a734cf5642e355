// Which kernels this machine runs, how one is selected, and what no compiler may change in them.
#include <algorithm>
#include <cstdlib>
#include <span>

#include "kvcheck/tests/base/kernel_values.h"

namespace kv {
namespace {

// Only a product that is fused into its sum leaves the last bit of the exact product. Where none
// may be, compilers fuse all the same unless -ffp-contract=off forbids it.
TEST(Kernels, FuseTheProductsOfRowsAndNoOthers) {
  const float factor = 1 + 0x1p-12F;
  const float rounded = 1 + 0x1p-11F;
  ASSERT_EQ(factor * factor, rounded);
  for (const Kernels* kernel : supported_kernels()) {
    for (const std::size_t dim : {32U, 33U, 79U, 96U}) {
      std::vector<float> query(dim, factor);
      std::vector<float> rows(2 * dim, factor);
      std::fill_n(query.begin(), 16, 1.0F);
      std::fill_n(rows.begin(), 16, -rounded);
      std::fill(query.begin() + 32, query.end(), 0.0F);
      float found = 1;
      kernel->dot_rows(query.data(), rows.data(), 1, dim, 1, &found);
      EXPECT_EQ(found, 0x1p-20F) << kernel->name << dim;
      std::fill_n(rows.begin(), dim, -rounded);
      std::fill_n(rows.begin() + static_cast<std::ptrdiff_t>(dim), dim, factor);
      const std::vector<float> weights = {1, factor};
      std::vector<float> out(dim, 1);
      kernel->weigh_rows(weights.data(), rows.data(), 2, dim, out.data());
      EXPECT_THAT(out, testing::Each(0x1p-24F)) << kernel->name << dim;
      const std::vector<float> from(dim, 1 + 0x1p-23F);
      std::vector<double> into(dim, -(1 + 0x1p-23 + 0x1p-30));
      kernel->add_weighted(into.data(), from.data(), 1 + 0x1p-30, dim);
      EXPECT_THAT(into, testing::Each(0)) << kernel->name << dim;
    }
  }
}

TEST(KernelsDeathTest, TheEnvironmentNamesAKernel) {
  // In a child, because the choice is made once per process.
  EXPECT_EXIT(
      {
        ::setenv("KV_KERNEL", "scalar", 1);
        std::exit(kernels().name == "scalar" ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
  for (const Kernels* table : supported_kernels()) {
    EXPECT_EXIT(
        {
          ::setenv("KV_KERNEL", table->name.data(), 1);
          std::exit(&kernels() == table ? 0 : 1);
        },
        testing::ExitedWithCode(0), "")
        << table->name;
  }
  EXPECT_EXIT(
      {
        ::setenv("KV_KERNEL", "nonsense", 1);
        std::exit(&kernels() == supported_kernels().front() ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST(Kernels, ScalarIsAlwaysThereAndLast) {
  ASSERT_FALSE(supported_kernels().empty());
  EXPECT_EQ(scalar().name, "scalar");
  std::vector<std::string_view> names;
  for (const Kernels* table : supported_kernels()) names.push_back(table->name);
  // Machines of one kind run the kernels of all older ones.
  const std::vector<std::string_view> x86 = {"avx512", "avx2", "sse4", "scalar"};
  if (names != std::vector<std::string_view>{"neon", "scalar"}) {
    EXPECT_TRUE(std::ranges::equal(names, std::span(x86).last(std::min(names.size(), x86.size()))));
  }
}

TEST(Kernels, OfTheTargetsOfHighwayAreNotScalar) {
  for (const Kernels* table : supported_kernels()) {
    if (table == &scalar()) continue;
    EXPECT_NE(table->dot_rows, scalar().dot_rows) << table->name;
    EXPECT_NE(table->narrow, scalar().narrow) << table->name;
    EXPECT_NE(table->softmax, scalar().softmax) << table->name;
    EXPECT_NE(table->dot_double, scalar().dot_double) << table->name;
  }
}

}  // namespace
}  // namespace kv
