// The rotation kernels against ONNX's own test vectors for its RotaryEmbedding operator.
#include <filesystem>

#include "kvcheck/model/rotation/rotate_kernels.h"
#include "kvcheck/tests/model/onnx_files.h"

namespace kv::model {
namespace {

class OnnxRotary : public test::OnnxVectors {};

// Cosines and sines lie in tables: by position, or by batch and token where no positions are given.
TEST_P(OnnxRotary, RotationGivesItsOutput) {
  auto named = attributes();
  const auto input = tensor("input_0");
  const auto cosines = tensor("input_1");
  const auto sines = tensor("input_2");
  const auto expected = tensor("output_0");
  const bool listed = std::filesystem::exists(file("input_3"));
  const auto positions = listed ? tensor("input_3").values : std::vector<float>();
  ASSERT_EQ(input.shape.size(), 4U);
  const std::size_t heads = input.shape[1];
  const std::size_t tokens = input.shape[2];
  const std::size_t dim = input.shape[3];
  const std::size_t pairs = cosines.shape.back();
  EXPECT_EQ(pairs, named["rotary_embedding_dim"] > 0
                       ? static_cast<std::size_t>(named["rotary_embedding_dim"]) / 2
                       : dim / 2);
  const RopeLayout layout = named["interleaved"] != 0 ? RopeLayout::interleaved : RopeLayout::half;
  for (const RotateKernels* table : supported_rotate_kernels()) {
    std::vector<float> rotated = input.values;
    for (std::size_t row = 0; row < rotated.size() / dim; ++row) {
      const std::size_t place = row / tokens / heads * tokens + row % tokens;
      const std::size_t at = listed ? static_cast<std::size_t>(positions[place]) : place;
      const auto slot = static_cast<std::uint32_t>(row);
      table->rotate(Number::f32,
                    {reinterpret_cast<std::byte*>(rotated.data()), dim, &slot, 1, layout, pairs},
                    cosines.values.data() + at * pairs, sines.values.data() + at * pairs);
    }
    EXPECT_THAT(rotated, testing::Pointwise(testing::FloatNear(1e-6F), expected.values));
    EXPECT_NE(rotated, input.values);
  }
}

INSTANTIATE_TEST_SUITE_P(Vectors,
                         OnnxRotary,
                         testing::Values("test_rotary_embedding",
                                         "test_rotary_embedding_interleaved",
                                         "test_rotary_embedding_no_position_ids",
                                         "test_rotary_embedding_with_rotary_dim"));

}  // namespace
}  // namespace kv::model
