#include "kvcheck/traces/files/writer.h"
#include "kvcheck/base/kernels/kernels.h"

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>

#include "kvcheck/base/text/describe.h"
#include "kvcheck/tests/traces/files.h"

namespace kv {
namespace {

using namespace testing;

TraceInfo small_info(Number number) {
  TraceInfo info;
  info.kind = TraceKind::qkv;
  info.model = "a \"model\"\n";
  info.tokens = 3;
  info.query_heads = 2;
  info.kv_heads = 1;
  info.head_dim = 2;
  info.layers = {1, 4};
  info.rope = {RopeLayout::interleaved, 2, 500000.5};
  info.number = number;
  return info;
}

// As many numbers as small_info's layers hold: (12 + 6 + 6) x 2.
std::vector<float> small_numbers() {
  std::vector<float> numbers(48);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i) * 0.5F - 7;
  return numbers;
}

Result<void> write_small(const std::string& path, Number number, std::size_t pieces) {
  auto writer = TraceWriter::create(path, small_info(number), std::vector<std::int32_t>{5, 6, 7},
                                    {"abc", {1, 2, 3}, {0, 1, 2}});
  if (!writer) return writer.error();
  TraceWriter into = std::move(writer).value();
  const std::vector<float> numbers = small_numbers();
  for (std::size_t at = 0; at < numbers.size(); at += pieces) {
    const std::size_t count = std::min(pieces, numbers.size() - at);
    if (auto done = into.write(std::span(numbers).subspan(at, count)); !done) return done;
  }
  return into.commit();
}

class Writer : public TestWithParam<Number> {};

TEST_P(Writer, WritesWhatIsReadBack) {
  const std::string path = test::temporary_path("written");
  ASSERT_TRUE(write_small(path, GetParam(), 48));
  const Trace trace = open_trace(path).value();
  const TraceInfo& info = trace.info();
  const TraceInfo requested = small_info(GetParam());
  EXPECT_EQ(info.kind, requested.kind);
  EXPECT_EQ(info.model, requested.model);
  EXPECT_EQ(info.layers, requested.layers);
  EXPECT_EQ(info.rope, requested.rope);
  EXPECT_EQ(info.number, requested.number);
  EXPECT_THAT(trace.token_ids(), ElementsAre(5, 6, 7));
  EXPECT_EQ(trace.transcript().text, "abc");
  EXPECT_THAT(trace.transcript().text_ends, ElementsAre(1, 2, 3));
  EXPECT_THAT(trace.transcript().nll, ElementsAre(0, 1, 2));
  std::vector<float> read;
  for (std::size_t i = 0; i < 2; ++i) {
    const Trace::Layer& layer = trace.layer(i);
    for (const TensorView* view : {&layer.q, &layer.k, &layer.v}) {
      std::vector<float> values(view->numbers());
      kernels().widen(view->number, view->data, values.size(), values.data());
      read.insert(read.end(), values.begin(), values.end());
    }
  }
  EXPECT_EQ(read, small_numbers());
}

TEST_P(Writer, AlignsDataAndTensors) {
  const std::string path = test::temporary_path("aligned");
  ASSERT_TRUE(write_small(path, GetParam(), 48));
  const std::string bytes = test::bytes_of_file(path);
  const auto header =
      static_cast<unsigned char>(bytes[0]) + 256 * static_cast<unsigned char>(bytes[1]);
  EXPECT_EQ((8 + header) % 64, 0);
  const Trace trace = open_trace(path).value();
  const auto address = reinterpret_cast<std::uintptr_t>(trace.layer(1).v.data);
  EXPECT_EQ(address % trace.layer(1).v.bytes_per_number(), 0U);
}

TEST_P(Writer, DoesNotDependOnThePieces) {
  const std::string whole = test::temporary_path("whole");
  const std::string parts = test::temporary_path("parts");
  ASSERT_TRUE(write_small(whole, GetParam(), 48));
  ASSERT_TRUE(write_small(parts, GetParam(), 7));
  EXPECT_EQ(test::bytes_of_file(whole), test::bytes_of_file(parts));
}

TEST_P(Writer, RefusesNumbersThatAreNotFinite) {
  auto created = TraceWriter::create(test::temporary_path("nan"), small_info(GetParam()));
  TraceWriter writer = std::move(created).value();
  std::vector<float> numbers(30);
  numbers[29] = std::numeric_limits<float>::quiet_NaN();
  const Result<void> done = writer.write(numbers);
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, HasSubstr("number 5 of tensor 'layers.4.q' is nan; expected"));
}

std::string number_of(const TestParamInfo<Number>& number) {
  return std::string(number_name(number.param));
}

INSTANTIATE_TEST_SUITE_P(Numbers,
                         Writer,
                         Values(Number::f32, Number::f16, Number::bf16),
                         number_of);

TEST(TraceWriter, RefusesNumbersThatTheTypeCannotHold) {
  auto created = TraceWriter::create(test::temporary_path("big"), small_info(Number::f16));
  TraceWriter writer = std::move(created).value();
  EXPECT_TRUE(writer.write(std::vector<float>{65504, -65504}));
  const Result<void> done = writer.write(std::vector<float>{70000});
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, HasSubstr("number 2 of tensor 'layers.1.q' is 70000"));
}

TEST(TraceWriter, RefusesAHeaderThatReadersWouldRefuse) {
  TraceInfo info = small_info(Number::f32);
  const std::string path = test::temporary_path("long");
  info.source = std::string(4 << 20, 's');
  const auto longer = TraceWriter::create(path, info);
  ASSERT_FALSE(longer);
  EXPECT_THAT(longer.error().message, HasSubstr("; a trace file may have 4194304"));
  EXPECT_FALSE(std::filesystem::exists(path));
  info.source.resize(info.source.size() - 4096);
  EXPECT_TRUE(TraceWriter::create(path, info));
}

TEST(TraceWriter, LeavesNothingBehindWithoutCommit) {
  const std::string folder = test::temporary_path("folder");
  std::filesystem::create_directory(folder);
  const std::string path = folder + "/t.safetensors";
  {
    auto created = TraceWriter::create(path, small_info(Number::f32));
    TraceWriter writer = std::move(created).value();
    EXPECT_TRUE(writer.write(std::vector<float>(20)));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  EXPECT_FALSE(TraceWriter::create(folder, small_info(Number::f32)));
}

}  // namespace
}  // namespace kv
