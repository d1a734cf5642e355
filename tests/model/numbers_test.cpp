// Numbers that a format of fewer bits cannot hold.
#include "kvcheck/model/kernels/numbers.h"

#include <limits>

namespace kv::model {
namespace {

std::optional<float> lost(const std::vector<float>& values, Storage storage) {
  std::vector<std::byte> row(values.size() * bytes_of(storage));
  write_numbers(values, storage, row.data());
  return too_large_for(values, storage, row.data());
}

TEST(TooLarge, IsTheFirstFiniteNumberThatBecomesInfinite) {
  for (std::size_t n = 1; n <= 70; ++n) {
    for (std::size_t at = 0; at < n; ++at) {
      std::vector<float> values(n, -65519.9F);
      EXPECT_EQ(lost(values, Storage::f16), std::nullopt) << n;
      values[at] = -65520.0F;
      EXPECT_EQ(lost(values, Storage::f16), -65520.0F) << n << " " << at;
      EXPECT_EQ(lost(values, Storage::bf16), std::nullopt);
      values[at] = std::numeric_limits<float>::max();
      EXPECT_EQ(lost(values, Storage::bf16), values[at]) << n << " " << at;
      EXPECT_EQ(lost(values, Storage::f32), std::nullopt);
      values[n - 1] = std::numeric_limits<float>::max();
      EXPECT_EQ(lost(values, Storage::f16), values[n - 1]);
    }
  }
}

TEST(TooLarge, IsNoNumberThatWasInfiniteBefore) {
  for (const float given :
       {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    EXPECT_EQ(lost({1, given, 2, 3, 4}, Storage::f16), std::nullopt);
    EXPECT_EQ(lost({1, given, 2, 70000, 4}, Storage::f16), 70000.0F);
  }
}

}  // namespace
}  // namespace kv::model
