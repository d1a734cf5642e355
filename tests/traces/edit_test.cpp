#include "kvcheck/traces/files/edit.h"
#include "kvcheck/base/kernels/kernels.h"

#include <filesystem>

#include "kvcheck/base/half.h"
#include "kvcheck/tests/traces/files.h"
#include "kvcheck/traces/files/writer.h"
#include "kvcheck/traces/verify.h"

namespace kv {
namespace {

using namespace testing;

constexpr std::size_t tokens = 4;

// 3 layers (2, 5, 9), 4 query heads on 2 kv-heads, 2 dimensions; each number tells its place.
std::string grouped_file() {
  TraceInfo info;
  info.kind = TraceKind::qkv;
  info.tokens = tokens;
  info.query_heads = 4;
  info.kv_heads = 2;
  info.head_dim = 2;
  info.layers = {2, 5, 9};
  std::string path = test::temporary_path("grouped");
  auto writer = TraceWriter::create(path, info, std::vector<std::int32_t>{1, 2, 3, 4},
                                    {"one2", {1, 2, 3, 4}, {}})
                    .value();
  std::vector<float> numbers(trace_numbers(info));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i);
  EXPECT_TRUE(writer.write(numbers));
  EXPECT_TRUE(writer.commit());
  return path;
}

std::vector<float> numbers(const TensorView& view) {
  std::vector<float> values(view.numbers());
  kernels().widen(view.number, view.data, values.size(), values.data());
  return values;
}

Trace sliced(const Selection& selection) {
  const Trace whole = open_trace(grouped_file()).value();
  const std::string path = test::temporary_path("slice");
  EXPECT_TRUE(rewrite(whole, selection, Number::f32, path));
  return open_trace(path).value();
}

std::string refusal(const Selection& selection) {
  const Trace whole = open_trace(grouped_file()).value();
  const std::string path = test::temporary_path("refused");
  const Result<void> done = rewrite(whole, selection, Number::f32, path);
  EXPECT_FALSE(std::filesystem::exists(path));
  return done ? "done" : done.error().message;
}

TEST(Slice, KeepsWholeGroups) {
  const Trace part = sliced({.layers = {{5}}, .heads = {{2, 3}}, .tokens = {}});
  EXPECT_THAT(part.info().layers, ElementsAre(5));
  EXPECT_EQ(part.info().query_heads, 2U);
  EXPECT_EQ(part.info().kv_heads, 1U);
  // Layer 5 begins at 64: q has 32 numbers, k and v 16 each, half of them of each kv-head.
  EXPECT_EQ(numbers(part.layer(0).q)[0], 64 + 16);
  EXPECT_EQ(numbers(part.layer(0).q).back(), 64 + 31);
  EXPECT_THAT(numbers(part.layer(0).k), ElementsAre(104, 105, 106, 107, 108, 109, 110, 111));
  EXPECT_THAT(numbers(part.layer(0).v), ElementsAre(120, 121, 122, 123, 124, 125, 126, 127));
}

TEST(Slice, KeepsThePrefixOfAllThatBelongsToTokens) {
  const Trace part = sliced({.layers = {}, .heads = {}, .tokens = 2});
  EXPECT_EQ(part.info().tokens, 2U);
  EXPECT_THAT(numbers(part.layer(0).k), ElementsAre(32, 33, 34, 35, 40, 41, 42, 43));
  EXPECT_THAT(part.token_ids(), ElementsAre(1, 2));
  EXPECT_EQ(part.transcript().text, "on");
  EXPECT_THAT(part.transcript().text_ends, ElementsAre(1, 2));
}

TEST(Slice, KeepsTheMarksOfWhatIsLeft) {
  const auto marks_of_first = [](std::size_t left) {
    Trace whole = open_trace(grouped_file()).value();
    whole.mark({.prompt = 2, .question = 1});
    const std::string path = test::temporary_path("marks");
    EXPECT_TRUE(rewrite(whole, {.layers = {}, .heads = {}, .tokens = left}, Number::f32, path));
    return open_trace(path).value().info().marks;
  };
  EXPECT_EQ(marks_of_first(4), (Marks{.prompt = 2, .question = 1}));
  EXPECT_EQ(marks_of_first(3), (Marks{.prompt = 2, .question = 1}));
  EXPECT_EQ(marks_of_first(2), (Marks{.prompt = 2, .question = 0}));
  EXPECT_EQ(marks_of_first(1), (Marks{.prompt = 1, .question = 0}));
}

TEST(Slice, KeepsAttentionRowsExact) {
  const std::vector<float> rows{1, 0, 0, 0.5F, 0.5F, 0, 0.25F, 0.25F, 0.5F};
  const std::string path = test::temporary_path("rows");
  const Trace whole = test::attention_trace(1, 3, rows);
  ASSERT_TRUE(rewrite(whole, {.layers = {}, .heads = {}, .tokens = 2}, Number::f16, path));
  const Trace part = open_trace(path).value();
  EXPECT_THAT(numbers(part.layer(0).attention), ElementsAre(1, 0, 0.5F, 0.5F));
  EXPECT_TRUE(verify(part));
}

TEST(Slice, RefusesWhatIsNotThere) {
  EXPECT_THAT(refusal({.layers = {{2, 3}}, .heads = {}, .tokens = {}}),
              HasSubstr("no layer 3; it has [2, 5, 9]"));
  EXPECT_THAT(refusal({.layers = {{5, 2}}, .heads = {}, .tokens = {}}),
              HasSubstr("layer 2 comes after layer 5"));
  EXPECT_THAT(refusal({.layers = {{5, 5}}, .heads = {}, .tokens = {}}), HasSubstr("layer 5 comes"));
  EXPECT_THAT(refusal({.layers = {std::vector<std::size_t>{}}, .heads = {}, .tokens = {}}),
              HasSubstr("no layer is selected"));
  EXPECT_THAT(refusal({.layers = {}, .heads = {{4}}, .tokens = {}}), HasSubstr("no head 4"));
  EXPECT_THAT(refusal({.layers = {}, .heads = {}, .tokens = 0}), HasSubstr("0 tokens; expected 1"));
  EXPECT_THAT(refusal({.layers = {}, .heads = {}, .tokens = 5}), HasSubstr("5 tokens; expected 1"));
}

TEST(Slice, RefusesToSplitGroups) {
  for (const std::vector<std::size_t>& heads :
       {std::vector<std::size_t>{0}, {1}, {1, 2}, {0, 2}, {0, 1, 2}, {0, 2, 3}}) {
    EXPECT_THAT(refusal({.layers = {}, .heads = heads, .tokens = {}}),
                HasSubstr("share one kv-head; expected all of them or none"));
  }
}

TEST(Convert, RoundsToTheType) {
  const float third = 1.0F / 3;
  const std::vector<float> rows{1, 0, third, 1 - third};
  const Trace trace = test::attention_trace(1, 2, rows);
  const std::string path = test::temporary_path("converted");
  ASSERT_TRUE(rewrite(trace, {}, Number::bf16, path));
  EXPECT_EQ(numbers(open_trace(path).value().layer(0).attention)[2],
            bf16_to_f32(f32_to_bf16(third)));
  ASSERT_TRUE(rewrite(trace, {}, Number::f32, path));
  EXPECT_EQ(numbers(open_trace(path).value().layer(0).attention), rows);
}

TEST(Convert, MayReplaceItsInput) {
  const std::string path = grouped_file();
  const Trace before = open_trace(path).value();
  ASSERT_TRUE(rewrite(before, {}, Number::f16, path));
  const Trace after = open_trace(path).value();
  EXPECT_EQ(after.info().number, Number::f16);
  EXPECT_EQ(numbers(after.layer(2).v), numbers(before.layer(2).v));
}

TEST(Convert, IsIdempotent) {
  const std::string path = grouped_file();
  const std::string again = test::temporary_path("again");
  ASSERT_TRUE(rewrite(open_trace(path).value(), {}, Number::f32, again));
  EXPECT_EQ(test::bytes_of_file(path), test::bytes_of_file(again));
}

}  // namespace
}  // namespace kv
