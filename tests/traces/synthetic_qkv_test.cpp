// Queries and keys give back the rows: the bounds that traces/SYNTHETIC.md states.
#include <algorithm>
#include <cmath>

#include "kvcheck/base/kernels/kernels.h"
#include "kvcheck/tests/traces/synthetic_helpers.h"

namespace kv::synthetic_test {
namespace {

// The largest difference of an entry, over every 7th query of every head.
double worst(const std::string& spec) {
  const Trace rows = make(spec);
  const Trace factors = make(spec + ",kind=qkv");
  double difference = 0;
  for (std::size_t head = 0; head < rows.info().query_heads; ++head) {
    for (Position t = 0; t < rows.info().tokens; t += 7) {
      const std::vector<double> expected = stored_row(rows, 0, head, t);
      const std::vector<double> row = computed_row(factors, 0, head, t);
      for (Position j = 0; j <= t; ++j) {
        difference = std::max(difference, std::abs(row[j] - expected[j]));
      }
    }
  }
  return difference;
}

class EveryQkv : public testing::TestWithParam<std::string> {};

std::string name_of(const testing::TestParamInfo<std::string>& test) {
  std::string word = test.param.substr(0, test.param.find(':'));
  std::erase(word, '-');
  return word;
}

INSTANTIATE_TEST_SUITE_P(Synthetic, EveryQkv, testing::ValuesIn(small_specs()), name_of);

TEST_P(EveryQkv, GivesBackTheRows) {
  EXPECT_LT(worst(GetParam()), 1e-6);
}

TEST_P(EveryQkv, GivesBackTheRowsOfGroupedQueries) {
  EXPECT_LT(worst(GetParam() + ",kv_heads=1,head_dim=48"), 1e-6);
}

TEST_P(EveryQkv, GivesBackTheRowsUnderRotation) {
  EXPECT_LT(worst(GetParam() + ",rope=half"), 1e-6);
  EXPECT_LT(worst(GetParam() + ",rope=interleaved"), 1e-6);
}

// What a replay does: products, scale and softmax in single precision.
TEST_P(EveryQkv, GivesBackTheRowsInSinglePrecision) {
  const Trace rows = make(GetParam());
  const Trace factors = make(GetParam() + ",kind=qkv");
  std::vector<float> query(32);
  std::vector<float> keys(std::size_t{201} * 32);
  std::vector<float> row(201);
  kernels().widen(Number::f32, factors.layer(0).k.data, keys.size(), keys.data());
  for (Position t = 0; t < 201; ++t) {
    const std::size_t begin = std::size_t{t} * 32 * sizeof(float);
    kernels().widen(Number::f32, factors.layer(0).q.data + begin, 32, query.data());
    kernels().dot_rows(query.data(), keys.data(), t + 1, 32, 1 / std::sqrt(32.0F), row.data());
    kernels().softmax(row.data(), t + 1);
    const std::vector<double> expected = stored_row(rows, 0, 0, t);
    for (Position j = 0; j <= t; ++j) ASSERT_NEAR(row[j], expected[j], 4e-6) << t << " " << j;
  }
}

// The relative bound that traces/SYNTHETIC.md states: (64 + tokens / decay) 2^-23.
TEST(SyntheticQkv, KeepsItsRelativeBoundWhereTheLogitsGrow) {
  for (const std::string decay : {"4", "32"}) {
    const std::string spec = "sink-recency:tokens=1500,heads=1,decay=" + decay;
    const Trace rows = make(spec);
    const Trace factors = make(spec + ",kind=qkv");
    for (Position t = 0; t < 1500; t += 13) {
      const std::vector<double> expected = stored_row(rows, 0, 0, t);
      const std::vector<double> row = computed_row(factors, 0, 0, t);
      for (Position j = 0; j <= t; ++j) {
        const double bound = (64 + 1500 / std::stod(decay)) * 0x1p-23;
        ASSERT_NEAR(row[j], expected[j], expected[j] * bound + 1e-30) << t << " " << j;
      }
    }
  }
}

TEST(SyntheticQkv, DescribesItsRotation) {
  const TraceInfo plain = make("zipf:tokens=300,kind=qkv").info();
  EXPECT_EQ(plain.rope, Rope{});
  EXPECT_EQ(plain.head_dim, 32U);
  const TraceInfo rotated = make("zipf:tokens=300,kind=qkv,rope=interleaved").info();
  EXPECT_EQ(rotated.rope, (Rope{RopeLayout::interleaved, 8, 10000}));
}

TEST(SyntheticQkv, StartsALongerStreamWithTheVectorsOfAShorterOne) {
  for (const std::string& spec : small_specs()) {
    std::string longer = spec;
    longer.replace(longer.find("tokens=201"), 10, "tokens=263");
    const Trace a = make(spec + ",kind=qkv");
    const Trace b = make(longer + ",kind=qkv");
    for (std::size_t i = 0; i < std::size_t{201} * 32; ++i) {
      ASSERT_EQ(number_at(a.layer(0).q, i), number_at(b.layer(0).q, i)) << spec << " " << i;
      ASSERT_EQ(number_at(a.layer(0).k, i), number_at(b.layer(0).k, i)) << spec << " " << i;
      ASSERT_EQ(number_at(a.layer(0).v, i), number_at(b.layer(0).v, i)) << spec << " " << i;
    }
  }
}

TEST(SyntheticQkv, HasStandardNormalValues) {
  const Trace trace = make("ties:tokens=500,heads=2,kind=qkv");
  const std::size_t n = std::size_t{2} * 500 * 32;
  double sum = 0;
  double squares = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double value = number_at(trace.layer(0).v, i);
    sum += value;
    squares += value * value;
  }
  // Five standard errors.
  EXPECT_NEAR(sum / static_cast<double>(n), 0, 5 / std::sqrt(32000.0));
  EXPECT_NEAR(squares / static_cast<double>(n), 1, 5 * std::sqrt(2 / 32000.0));
}

}  // namespace
}  // namespace kv::synthetic_test
