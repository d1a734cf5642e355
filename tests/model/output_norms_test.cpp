// How large values are after the output projection: the function against sums in double over the
// model's own matrices, and that policies are shown it.
#include "kvcheck/model/decoder/output_norms.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "kvcheck/model/codes/store_weights.h"
#include "kvcheck/model/decoder/decoder.h"
#include "kvcheck/tests/model/small_models.h"

namespace kv::model {
namespace {

using Doubles = std::vector<double>;

constexpr std::size_t layers = 2;
constexpr std::size_t heads = 4;
constexpr std::size_t kv_heads = 2;
constexpr std::size_t dim = 4;
const std::vector<TokenId> some_tokens = {1, 7, 3, 30, 12, 5, 9, 9, 2, 31, 4, 18};

// The values of every layer, as the decoder computes them.
class Values : public AttentionObserver {
 public:
  void on_vectors(Position /*first*/, const LayerVectors& vectors) override {
    auto& all = of_layer[vectors.layer];
    all.insert(all.end(), vectors.v, vectors.v + vectors.tokens * kv_heads * dim);
  }

  std::vector<float> of_layer[layers];
};

// A row of the matrix in full.
Doubles row_of(const Matrix& matrix, std::size_t index) {
  std::vector<float> row(matrix.columns);
  if (matrix.quantised != Quantisation::int8) {
    matrix.widen_row(index, row.data());
    return {row.begin(), row.end()};
  }
  Doubles out;
  for (std::size_t c = 0; c < matrix.columns; ++c) {
    const auto code = static_cast<std::int8_t>(matrix.row(index)[c]);
    out.push_back(static_cast<double>(code) * static_cast<double>(matrix.scales[index]));
  }
  return out;
}

// Of one token and query head.
double norm_of(const Matrix& output, const float* values, std::size_t head) {
  double norm = 0;
  for (std::size_t r = 0; r < output.rows; ++r) {
    const Doubles row = row_of(output, r);
    double sum = 0;
    for (std::size_t c = 0; c < dim; ++c) {
      const double value = values[head / (heads / kv_heads) * dim + c];
      sum += row[head * dim + c] * value;
    }
    norm += std::fabs(sum);
  }
  return norm;
}

LanguageModel stored(const std::string& folder, WeightFormat format) {
  LanguageModel model = open_model(folder).value();
  EXPECT_TRUE(store_weights(model, format));
  return model;
}

TEST(OutputNorms, AreSumsOverTheProjectionForEveryStorageOfWeights) {
  const std::string folder = test::small_llama().write("output-norms", Number::f16);
  for (const WeightFormat format :
       {WeightFormat::as_is, WeightFormat::f32, WeightFormat::int8, WeightFormat::nf4}) {
    const LanguageModel model = stored(folder, format);
    std::vector<float> v;
    for (int i = 0; i < 5 * 8; ++i) v.push_back(std::sin(static_cast<float>(i * i)));
    for (std::size_t layer = 0; layer < layers; ++layer) {
      Team one(1);
      std::vector<float> norms;
      output_norms(model, layer, 5, v.data(), norms, one);
      ASSERT_EQ(norms.size(), 5 * heads);
      for (std::size_t i = 0; i < norms.size(); ++i) {
        const float* values = v.data() + i / heads * kv_heads * dim;
        const double expected = norm_of(model.layers[layer].output.weight, values, i % heads);
        EXPECT_NEAR(norms[i], expected, 1e-6 * expected);
        EXPECT_GT(norms[i], 0);
      }
      Team three(3);
      std::vector<float> shared;
      output_norms(model, layer, 5, v.data(), shared, three);
      EXPECT_EQ(shared, norms);
    }
  }
}

// What criticalkv, which writes it last, knows of each resident: by unit, then token.
std::vector<Doubles> sizes_under(const LanguageModel& model,
                                 const std::string& unit,
                                 std::size_t chunk,
                                 AttentionObserver* observer) {
  const Spec spec = parse_spec("criticalkv:budget=32,window=4;unit=" + unit).value();
  DecoderOptions options;
  options.observer = observer;
  Decoder decoder = Decoder::create(model, spec, options).value();
  for (std::size_t at = 0; at < some_tokens.size(); at += chunk) {
    EXPECT_TRUE(decoder.feed(std::span(some_tokens).subspan(at, chunk)));
  }
  std::vector<Doubles> all;
  for (const ModelUnit& one : decoder.attention().units()) {
    ByteWriter writer;
    one.cache.save(writer);
    Doubles& sizes = all.emplace_back(one.cache.residents());
    const std::size_t bytes = sizes.size() * sizeof(double);
    std::memcpy(sizes.data(), writer.bytes().data() + (writer.bytes().size() - bytes), bytes);
  }
  return all;
}

TEST(OutputNorms, AreShownToPoliciesAsTheMeanOverTheHeadsOfTheirUnit) {
  const LanguageModel model = open_model(test::small_llama().write("shown-norms")).value();
  Values values;
  const std::vector<Doubles> by_group = sizes_under(model, "kv-head", 12, &values);
  const std::vector<Doubles> by_head = sizes_under(model, "head", 12, nullptr);
  ASSERT_EQ(by_group.size(), layers * kv_heads);
  ASSERT_EQ(by_head.size(), layers * heads);
  for (std::size_t unit = 0; unit < by_head.size(); ++unit) {
    const std::size_t layer = unit / heads;
    const std::size_t head = unit % heads;
    for (std::size_t t = 0; t < some_tokens.size(); ++t) {
      const float* v = values.of_layer[layer].data() + t * kv_heads * dim;
      const Matrix& output = model.layers[layer].output.weight;
      const double own = norm_of(output, v, head);
      EXPECT_NEAR(by_head[unit][t], own, 1e-5 * own);
      if (head % 2 != 0) continue;
      const double mean = (own + norm_of(output, v, head + 1)) / 2;
      EXPECT_NEAR(by_group[unit / 2][t], mean, 1e-5 * mean);
    }
  }
}

TEST(OutputNorms, DoNotDependOnChunks) {
  const LanguageModel model = open_model(test::small_llama().write("chunked-norms")).value();
  const std::vector<Doubles> whole = sizes_under(model, "kv-head", 12, nullptr);
  const std::vector<Doubles> pairs = sizes_under(model, "kv-head", 2, nullptr);
  for (std::size_t unit = 0; unit < whole.size(); ++unit) {
    for (std::size_t t = 0; t < whole[unit].size(); ++t) {
      EXPECT_NEAR(whole[unit][t], pairs[unit][t], 1e-5 * whole[unit][t]);
    }
  }
}

}  // namespace
}  // namespace kv::model
