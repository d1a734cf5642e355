// The attention kernels against ONNX's own test vectors for its Attention operator.
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include "kvcheck/model/kernels/attend_kernels.h"
#include "kvcheck/model/kernels/model_kernels.h"
#include "kvcheck/sim/cache/slots.h"
#include "kvcheck/tests/model/onnx_files.h"

namespace kv::model {
namespace {

using test::OnnxTensor;

// [batch, heads, tokens, dim], whatever the file's axes.
struct Heads {
  std::size_t batch = 0;
  std::size_t heads = 0;
  std::size_t tokens = 0;
  std::size_t dim = 0;
  std::vector<float> values;

  [[nodiscard]] const float* of(std::size_t b, std::size_t h) const {
    return values.data() + (b * heads + h) * tokens * dim;
  }
};

Heads heads_of(const OnnxTensor& tensor, double heads) {
  const auto& shape = tensor.shape;
  if (shape.size() == 4) return {shape[0], shape[1], shape[2], shape[3], tensor.values};
  const auto count = static_cast<std::size_t>(heads);
  Heads result{shape[0], count, shape[1], shape[2] / count, {}};
  result.values.resize(tensor.values.size());
  for (std::size_t i = 0; i < tensor.values.size(); ++i) {
    const std::size_t j = i % result.dim;
    const std::size_t h = i / result.dim % count;
    const std::size_t t = i / shape[2] % result.tokens;
    const std::size_t b = i / shape[2] / result.tokens;
    result.values[((b * count + h) * result.tokens + t) * result.dim + j] = tensor.values[i];
  }
  return result;
}

// `past` tokens, then the new ones.
Heads joined(const Heads& past, const Heads& fresh) {
  Heads result = fresh;
  result.tokens += past.tokens;
  result.values.clear();
  for (std::size_t b = 0; b < fresh.batch; ++b) {
    for (std::size_t h = 0; h < fresh.heads; ++h) {
      for (const Heads* part : {&past, &fresh}) {
        result.values.insert(result.values.end(), part->of(b, h),
                             part->of(b, h) + part->tokens * part->dim);
      }
    }
  }
  return result;
}

struct Inputs {
  Heads q;
  Heads k;
  Heads v;
  OnnxTensor mask;       // additive, or allowed where not zero
  bool allowed = false;  // ... the latter
  std::size_t past = 0;
  bool causal = false;
  float scale = 0;
};

// Which keys a query may see.
std::vector<Slot> visible(const Inputs& in, std::size_t query) {
  std::vector<Slot> slots;
  for (std::size_t i = 0; i < in.k.tokens; ++i) {
    const bool later = in.causal && i > query + in.past;
    const bool masked = in.allowed && in.mask.values[query * in.k.tokens + i] == 0;
    if (!later && !masked) slots.push_back(static_cast<Slot>(i));
  }
  return slots;
}

SlotRows rows_of(const Heads& from,
                 std::size_t b,
                 std::size_t kv_head,
                 std::span<const Slot> slots) {
  return {Storage::f32, reinterpret_cast<const std::byte*>(from.of(b, kv_head)), from.dim,
          slots.data(), slots.size()};
}

// The query of every head of the group, one after the other.
std::vector<float> queries_of(const Inputs& in, std::size_t b, std::size_t kv_head, std::size_t t) {
  const std::size_t group = in.q.heads / in.k.heads;
  std::vector<float> queries;
  for (std::size_t h = 0; h < group; ++h) {
    const float* q = in.q.of(b, kv_head * group + h) + t * in.q.dim;
    queries.insert(queries.end(), q, q + in.q.dim);
  }
  return queries;
}

// Puts the outputs of a group's heads for one token where they belong.
void put(const std::vector<float>& result,
         std::size_t b,
         std::size_t first_head,
         std::size_t t,
         Heads& out) {
  for (std::size_t h = 0; h * out.dim < result.size(); ++h) {
    const std::size_t at = ((b * out.heads + first_head + h) * out.tokens + t) * out.dim;
    std::copy_n(result.begin() + static_cast<std::ptrdiff_t>(h * out.dim), out.dim,
                out.values.begin() + static_cast<std::ptrdiff_t>(at));
  }
}

// The output of all queries of one kv-head's group, as the decoder computes it: query by query,
// the group's heads together, over the keys in one pass.
void attend(
    const AttendKernels& table, const Inputs& in, std::size_t b, std::size_t kv_head, Heads& out) {
  const std::size_t group = in.q.heads / in.k.heads;
  for (std::size_t t = 0; t < in.q.tokens; ++t) {
    const std::vector<Slot> slots = visible(in, t);
    const std::vector<float> queries = queries_of(in, b, kv_head, t);
    const std::array<QueryRun, 1> runs = {QueryRun{slots.size(), queries.data()}};
    std::vector<float> state(group * attend_state);
    std::vector<float> result(group * in.v.dim);
    table.attend({.keys = rows_of(in.k, b, kv_head, slots),
                  .values = rows_of(in.v, b, kv_head, slots),
                  .runs = runs,
                  .vectors = group,
                  .scale = in.scale,
                  .state = state.data(),
                  .out = result.data()});
    put(result, b, kv_head * group, t, out);
  }
}

// The same where keys are stored as they were before rotation: in two passes, with a mask between.
void attend(
    const ModelKernels& table, const Inputs& in, std::size_t b, std::size_t kv_head, Heads& out) {
  const std::size_t group = in.q.heads / in.k.heads;
  for (std::size_t t = 0; t < in.q.tokens; ++t) {
    const std::vector<Slot> slots = visible(in, t);
    const std::vector<float> queries = queries_of(in, b, kv_head, t);
    std::vector<float> mass(group * slots.size());
    table.logits(rows_of(in.k, b, kv_head, slots), queries.data(), group, in.scale, slots.size(),
                 mass.data());
    for (std::size_t h = 0; h < group; ++h) {
      float* row = mass.data() + h * slots.size();
      for (std::size_t i = 0; !in.allowed && !in.mask.values.empty() && i < slots.size(); ++i) {
        row[i] += in.mask.values[t * in.k.tokens + i];
      }
      kernels().softmax(row, slots.size());
    }
    std::vector<float> result(group * in.v.dim);
    table.weigh(rows_of(in.v, b, kv_head, slots), mass.data(), group, slots.size(), result.data());
    put(result, b, kv_head * group, t, out);
  }
}

class Onnx : public test::OnnxVectors {
 protected:
  [[nodiscard]] Inputs inputs() const {
    auto named = attributes();
    Inputs in;
    in.q = heads_of(tensor("input_0"), named["q_num_heads"]);
    in.k = heads_of(tensor("input_1"), named["kv_num_heads"]);
    in.v = heads_of(tensor("input_2"), named["kv_num_heads"]);
    in.causal = named["is_causal"] != 0;
    in.scale = named.contains("scale") ? static_cast<float>(named["scale"])
                                       : 1.0F / std::sqrt(static_cast<float>(in.q.dim));
    if (std::filesystem::exists(file("input_3"))) in.mask = tensor("input_3");
    in.allowed = GetParam().ends_with("bool");
    if (std::filesystem::exists(file("input_5"))) {
      const Heads past = heads_of(tensor("input_4"), 0);
      in.past = past.tokens;
      in.k = joined(past, in.k);
      in.v = joined(heads_of(tensor("input_5"), 0), in.v);
    }
    return in;
  }

  // Whether attention by these kernels is what the file says.
  template <typename Kernels>
  void expect_output(const Inputs& in, const Kernels& table) const {
    const OnnxTensor expected = tensor("output_0");
    auto named = attributes();
    const Heads requested = heads_of(expected, named["q_num_heads"]);
    ASSERT_EQ(requested.tokens, in.q.tokens);
    Heads out = requested;
    std::ranges::fill(out.values, -1.0F);
    for (std::size_t b = 0; b < in.q.batch; ++b) {
      for (std::size_t h = 0; h < in.k.heads; ++h) attend(table, in, b, h, out);
    }
    const float bound = expected.half ? 2e-3F : 2e-6F;
    EXPECT_THAT(out.values, testing::Pointwise(testing::FloatNear(bound), requested.values));
  }
};

TEST_P(Onnx, AttentionGivesItsOutput) {
  const Inputs in = inputs();
  for (const ModelKernels* table : supported_model_kernels()) expect_output(in, *table);
}

// The kernel that the decoder runs takes no additive mask, and keys and values of one width.
class OnnxInOnePass : public Onnx {};

TEST_P(OnnxInOnePass, AttentionGivesItsOutput) {
  const Inputs in = inputs();
  ASSERT_TRUE(in.allowed || in.mask.values.empty());
  for (const AttendKernels* table : supported_attend_kernels()) expect_output(in, *table);
}

const auto in_one_pass = std::to_array<std::string>(
    {"test_attention_3d", "test_attention_3d_causal", "test_attention_3d_gqa",
     "test_attention_3d_scaled", "test_attention_4d", "test_attention_4d_attn_mask_bool",
     "test_attention_4d_causal", "test_attention_4d_fp16", "test_attention_4d_gqa",
     "test_attention_4d_gqa_causal"});

INSTANTIATE_TEST_SUITE_P(Vectors, OnnxInOnePass, testing::ValuesIn(in_one_pass));
INSTANTIATE_TEST_SUITE_P(Vectors, Onnx, testing::ValuesIn(in_one_pass));
INSTANTIATE_TEST_SUITE_P(WithAMaskOrTwoWidths,
                         Onnx,
                         testing::Values("test_attention_3d_with_past_and_present",
                                         "test_attention_4d_attn_mask",
                                         "test_attention_4d_diff_heads_sizes_causal",
                                         "test_attention_4d_gqa_with_past_and_present",
                                         "test_attention_4d_with_past_and_present"));

}  // namespace
}  // namespace kv::model
