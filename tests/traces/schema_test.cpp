#include "kvcheck/traces/files/schema.h"

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>

#include "kvcheck/tests/traces/files.h"

namespace kv {
namespace {

using namespace testing;
using test::container;
using test::error_of;
using test::SmallQkv;

std::string without_metadata(std::string_view name) {
  SmallQkv file;
  const std::size_t begin = file.metadata.find("\"" + std::string(name) + "\"");
  const std::size_t end = file.metadata.find("\",", begin);
  file.metadata.erase(begin, end - begin + 2);
  return error_of(file.bytes());
}

std::string with_metadata(std::string_view from, std::string_view to) {
  return error_of(SmallQkv().in_metadata(from, to).bytes());
}

std::string with_tensors(std::string_view from, std::string_view to) {
  return error_of(SmallQkv().in_tensors(from, to).bytes());
}

TEST(Schema, ReadsWhatTheFileSays) {
  const std::string path = test::temporary_file("small.safetensors", SmallQkv().bytes());
  const Trace trace = open_trace(path).value();
  const TraceInfo& info = trace.info();
  EXPECT_EQ(info.name, "small.safetensors");
  EXPECT_EQ(info.tokens, 3U);
  EXPECT_EQ(info.kv_heads, 1U);
  EXPECT_THAT(info.layers, ElementsAre(7));
  EXPECT_EQ(info.rope, (Rope{RopeLayout::half, 4, 10000}));
  EXPECT_EQ(trace.token_ids().size(), 3U);
  EXPECT_EQ(trace.layer(0).attention.data, nullptr);
  EXPECT_EQ(trace.layer(0).v.data - trace.layer(0).q.data, 144);
}

TEST(Schema, TakesSizesFromTensorsWhenMetadataLeavesThemOut) {
  for (const char* name : {"layers", "query_heads", "kv_heads", "head_dim"}) {
    EXPECT_EQ(without_metadata(name), "opened") << name;
  }
}

TEST(Schema, NeedsFormatVersionKindAndRotation) {
  EXPECT_THAT(without_metadata("format"), HasSubstr("format ''; expected 'kvcheck-trace'"));
  EXPECT_THAT(without_metadata("version"), HasSubstr("version ''; this kvcheck reads '1'"));
  EXPECT_THAT(without_metadata("kind"), HasSubstr("has no 'kind'"));
  EXPECT_THAT(without_metadata("rope_layout"), HasSubstr("has no 'rope_layout'"));
  EXPECT_THAT(without_metadata("rope_theta"), HasSubstr("has no 'rope_theta'"));
  EXPECT_THAT(error_of(container("{}", "")), HasSubstr("format ''"));
}

TEST(Schema, RefusesOtherVersionsAndUnknownWords) {
  EXPECT_THAT(with_metadata(R"("version":"1")", R"("version":"3")"), HasSubstr("version '3'"));
  EXPECT_THAT(with_metadata(R"("kind":"qkv")", R"("kind":"qvk")"),
              HasSubstr("unknown kind 'qvk'; did you mean 'qkv'?"));
  EXPECT_THAT(with_metadata("half", "halves"), HasSubstr("unknown rope_layout 'halves'"));
  EXPECT_THAT(with_metadata(R"("layers":"1")", R"("layers":"1","loop":"closed")"),
              HasSubstr("loop is 'closed'; expected 'open', or 'closed: ' and the spec"));
}

TEST(Schema, AQuestionFollowsAPrompt) {
  const std::string layers = R"("layers":"1")";
  EXPECT_EQ(with_metadata(layers, layers + R"(,"prompt_tokens":"2","question_tokens":"1")"),
            "opened");
  EXPECT_THAT(with_metadata(layers, layers + R"(,"question_tokens":"1")"),
              HasSubstr("has question_tokens; expected prompt_tokens too"));
  EXPECT_THAT(with_metadata(layers, layers + R"(,"prompt_tokens":"x")"),
              HasSubstr("prompt_tokens is 'x'"));
  EXPECT_THAT(with_metadata(layers, layers + R"(,"prompt_tokens":"3","question_tokens":"1")"),
              HasSubstr("prompt_tokens is 3 and question_tokens 1; expected at most the 3 tokens"));
}

TEST(Schema, RefusesBadNumbersInMetadata) {
  for (const char* bad : {"0", "-2", "2.5", "", "99999999999999999999", "2 ", "two"}) {
    const std::string to = "\"query_heads\":\"" + std::string(bad) + "\"";
    EXPECT_THAT(with_metadata(R"("query_heads":"2")", to), HasSubstr("query_heads is '")) << bad;
  }
  for (const char* bad : {"0", "-1", "nan", "inf", "1e999", ""}) {
    const std::string to = "\"rope_theta\":\"" + std::string(bad) + "\"";
    EXPECT_THAT(with_metadata(R"("rope_theta":"10000")", to), HasSubstr("rope_theta is '")) << bad;
  }
  EXPECT_THAT(with_metadata(R"("rope_dims":"4")", R"("rope_dims":"3")"),
              HasSubstr("rope_dims is 3; expected an even number"));
  EXPECT_THAT(with_metadata(R"("rope_dims":"4")", R"("rope_dims":"6")"),
              HasSubstr("6 rope_dims; expected at most head_dim, 4"));
}

TEST(Schema, RefusesMetadataAtOddsWithTensors) {
  EXPECT_THAT(with_metadata(R"("layers":"1")", R"("layers":"2")"),
              HasSubstr("layers is 2, but the tensors are those of 1"));
  EXPECT_THAT(with_metadata(R"("query_heads":"2")", R"("query_heads":"4")"),
              HasSubstr("'layers.7.q' has shape [2, 3, 4]; expected [4, 3, 4]"));
  EXPECT_THAT(with_metadata(R"("kv_heads":"1")", R"("kv_heads":"2")"),
              HasSubstr("'layers.7.k' has shape [1, 3, 4]; expected [2, 3, 4]"));
  EXPECT_THAT(with_metadata(R"("head_dim":"4")", R"("head_dim":"8")"),
              HasSubstr("expected [2, 3, 8]"));
  SmallQkv thirds;
  thirds.in_metadata(R"("query_heads":"2")", R"("query_heads":"3")")
      .in_metadata(R"("kv_heads":"1")", R"("kv_heads":"2")");
  EXPECT_THAT(error_of(thirds.bytes()), HasSubstr("2 kv-heads; expected a divisor of the 3"));
}

TEST(Schema, RefusesMissingExtraAndMisnamedTensors) {
  EXPECT_THAT(with_tensors("layers.7.k", "layers.8.k"),
              HasSubstr("tensor 'layers.7.k' is missing"));
  EXPECT_THAT(with_tensors("\"tokens\"", "\"ids\""), HasSubstr("unexpected tensor 'ids'"));
  for (const char* name : {"layers.07.q", "layers.-7.q", "layers.7.w", "layers.7.qq", "layers..q",
                           "layers.7", "layers.99999.q", "layers.7.attention"}) {
    EXPECT_THAT(with_tensors("layers.7.q", name), HasSubstr("unexpected tensor '")) << name;
  }
  EXPECT_THAT(error_of(container(R"({"__metadata__":{"format":"kvcheck-trace","version":"1",)"
                                 R"("kind":"attention"}})",
                                 "")),
              HasSubstr("no tensor of a layer"));
}

TEST(Schema, RefusesBadTypesAndShapes) {
  EXPECT_THAT(
      with_tensors(R"(k":{"dtype":"F32","shape":[1,3,4])", R"(k":{"dtype":"F16","shape":[1,3,8])"),
      HasSubstr("'layers.7.k' is F16; expected F32"));
  EXPECT_THAT(with_tensors(R"(q":{"dtype":"F32")", R"(q":{"dtype":"I32")"),
              HasSubstr("'layers.7.q' is I32; expected F16, BF16 or F32"));
  EXPECT_THAT(with_tensors("[2,3,4]", "[6,4]"),
              HasSubstr("[6, 4]; expected [heads, tokens, dims]"));
  EXPECT_THAT(with_tensors("[1,3,4]", "[1,4,3]"), HasSubstr("expected [1, 3, 4]"));
  EXPECT_THAT(with_tensors(R"("I32","shape":[3])", R"("F32","shape":[3])"),
              HasSubstr("'tokens' is F32 [3]; expected I32 [3]"));
  SmallQkv empty;
  empty.tensors = R"("layers.7.q":{"dtype":"F32","shape":[2,0,4],"data_offsets":[0,0]},)"
                  R"("layers.7.k":{"dtype":"F32","shape":[1,0,4],"data_offsets":[0,0]},)"
                  R"("layers.7.v":{"dtype":"F32","shape":[1,0,4],"data_offsets":[0,0]})";
  empty.data_bytes = 0;
  EXPECT_THAT(error_of(empty.bytes()), HasSubstr("0 tokens; expected 1 to 2147483647"));
}

TEST(Schema, RefusesTextEndsThatLeaveTheText) {
  const auto with_ends = [](const std::vector<signed char>& ends) {
    std::string data(8, '\0');
    data += std::string("ab");
    for (const signed char end : ends) {
      data += static_cast<char>(end) + std::string(7, end < 0 ? '\xff' : '\0');
    }
    return error_of(
        container(R"({"__metadata__":{"format":"kvcheck-trace","version":"1","kind":"attention"},)"
                  R"("layers.0.attention":{"dtype":"F16","shape":[1,2,2],"data_offsets":[0,8]},)"
                  R"("text":{"dtype":"U8","shape":[2],"data_offsets":[8,10]},)"
                  R"("text_ends":{"dtype":"I64","shape":[2],"data_offsets":[10,26]}})",
                  data));
  };
  EXPECT_EQ(with_ends({1, 2}), "opened");
  EXPECT_THAT(with_ends({1, 3}),
              HasSubstr("'text_ends' has 3 at token 1; expected a number from 1"));
  EXPECT_THAT(with_ends({2, 1}), HasSubstr("'text_ends' has 1 at token 1"));
  EXPECT_THAT(with_ends({-1, 1}), HasSubstr("'text_ends' has -1 at token 0"));
}

// Says on standard error why the file is refused. Ends the process if that takes ten seconds of the
// processor.
void refuse_soon(const std::string& path) {
  const rlimit limit = {10, 10};
  ::setrlimit(RLIMIT_CPU, &limit);
  const std::string message = open_trace(path).error().message;
  static_cast<void>(::write(STDERR_FILENO, message.data(), message.size()) + 0);
  ::_exit(0);
}

// Hashing a terabyte takes minutes; the first bytes are looked at before.
TEST(OpenTrace, RefusesALargeFileByItsFirstBytes) {
  const std::string path = test::temporary_file("sparse.safetensors", "");
  std::filesystem::resize_file(path, std::uint64_t{1} << 40);
  EXPECT_EXIT(refuse_soon(path), ExitedWithCode(0), "the header has 0 bytes; expected JSON");
  std::filesystem::remove(path);
}

TEST(OpenTrace, RefusesWhatIsNotAFile) {
  EXPECT_THAT(open_trace(TempDir()).error().message, HasSubstr("is a directory"));
  const Result<Trace> missing = open_trace(test::temporary_path("missing"));
  EXPECT_EQ(missing.error().kind, Error::Kind::not_found);
  EXPECT_THAT(error_of(""), HasSubstr("the file is empty"));
  EXPECT_THAT(error_of("just some text"), HasSubstr("is this a safetensors, .npy or .npz file?"));
}

TEST(OpenTrace, ChecksumTellsOneByteApart) {
  std::string bytes = SmallQkv().bytes();
  const std::string a = test::temporary_file("a", bytes);
  bytes.back() = 1;
  const std::string b = test::temporary_file("b", bytes);
  const auto checksum = [](const std::string& path) {
    return open_trace(path).value().info().checksum;
  };
  EXPECT_EQ(checksum(a), checksum(a));
  EXPECT_NE(checksum(a), checksum(b));
}

}  // namespace
}  // namespace kv
