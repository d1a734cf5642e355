// What a dump can say beside its rows: kv-heads, the steps of a generation, the words.
#include "kvcheck/base/kernels/kernels.h"
#include "kvcheck/tests/traces/files.h"
#include "kvcheck/traces/files/dump.h"
#include "kvcheck/traces/files/words.h"

namespace kv {
namespace {

using namespace testing;
using test::bytes_of;
using test::error_of;
using test::halves;
using test::npy;
using test::zip;

Trace opened(const std::string& bytes) {
  return open_trace(test::temporary_file("dump", bytes)).value();
}

std::vector<float> numbers(const TensorView& view) {
  std::vector<float> values(view.numbers());
  kernels().widen(view.number, view.data, values.size(), values.data());
  return values;
}

std::string doubles(const std::vector<float>& values) {
  std::string bytes;
  for (const float value : values) {
    const double wide{value};
    bytes.append(reinterpret_cast<const char*>(&wide), sizeof wide);
  }
  return bytes;
}

// An integer as numpy.savez writes it.
std::string count_array(std::int64_t value, std::string_view shape = "()") {
  std::string bytes(reinterpret_cast<const char*>(&value), sizeof value);
  return npy("{'descr': '<i8', 'fortran_order': False, 'shape': " + std::string(shape) + ", }",
             bytes);
}

// Four heads of one token each.
std::string four_heads() {
  return npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 4, 1, 1), }",
             bytes_of(std::vector<float>(4, 1.0F)));
}

Dump with_heads(const std::string& bytes, std::size_t kv_heads = 0) {
  return open_dump(test::temporary_file("dump", bytes), {.kv_heads = kv_heads}).value();
}

TEST(Dump, HasAsManyKvHeadsAsItsFileOrItsCallerSays) {
  EXPECT_EQ(with_heads(four_heads()).trace.info().kv_heads, 4U);
  EXPECT_FALSE(with_heads(four_heads()).kv_heads_known);
  EXPECT_EQ(with_heads(four_heads(), 2).trace.info().kv_heads, 2U);
  EXPECT_TRUE(with_heads(four_heads(), 2).kv_heads_known);
  for (const std::string_view shape : {"()", "(1,)"}) {
    const std::string archive =
        zip({{"rows.npy", four_heads()}, {"kv_heads.npy", count_array(2, shape)}});
    EXPECT_EQ(with_heads(archive).trace.info().kv_heads, 2U);
    EXPECT_TRUE(with_heads(archive).kv_heads_known);
    EXPECT_EQ(with_heads(archive, 2).trace.info().kv_heads, 2U);
  }
}

TEST(Dump, RefusesKvHeadsThatCannotBe) {
  const auto refusal = [](const std::string& bytes, std::size_t kv_heads = 0) {
    const auto opened = open_dump(test::temporary_file("dump", bytes), {.kv_heads = kv_heads});
    return opened ? "" : opened.error().message;
  };
  EXPECT_THAT(refusal(four_heads(), 3),
              HasSubstr("has 4 heads, which 3 kv-heads cannot share evenly; expected a divisor"));
  const auto archive = [](const std::string& count) {
    return zip({{"rows.npy", four_heads()}, {"kv_heads.npy", count}});
  };
  EXPECT_THAT(refusal(archive(count_array(2)), 4),
              HasSubstr("has kv_heads 2, but 4 kv-heads are given; expected the same"));
  EXPECT_THAT(refusal(archive(count_array(0))), HasSubstr("holds 0; expected 1 to"));
  EXPECT_THAT(refusal(archive(count_array(-2))), HasSubstr("negative"));
  EXPECT_THAT(refusal(archive(count_array(2, "(2,)"))),
              HasSubstr("shape [2]; expected one number"));
  EXPECT_THAT(refusal(archive(four_heads())), HasSubstr("dtype '<f4'; expected an integer"));
  EXPECT_THAT(refusal(archive(count_array(2).substr(0, count_array(2).size() - 4))),
              HasSubstr("expected 8"));
}

// A step [1, 2, queries, keys] in which query q of head h attends to key k with 100h + 10q + k.
std::string step(std::size_t queries, std::size_t keys, std::string_view type = "<f4") {
  std::vector<float> values;
  for (std::size_t head = 0; head < 2; ++head) {
    for (std::size_t query = 0; query < queries; ++query) {
      for (std::size_t key = 0; key < keys; ++key) {
        const std::size_t position = keys - queries + query;
        values.push_back(key > position ? 0 : static_cast<float>(100 * head + 10 * position + key));
      }
    }
  }
  return npy("{'descr': '" + std::string(type) + "', 'fortran_order': False, 'shape': (1, 2, " +
                 std::to_string(queries) + ", " + std::to_string(keys) + "), }",
             type == "<f8"   ? doubles(values)
             : type == "<f2" ? halves(values)
                             : bytes_of(values));
}

TEST(Dump, JoinsTheStepsOfAGeneration) {
  for (const std::string_view type : {"<f4", "<f8", "<f2"}) {
    const Trace trace = opened(zip({{"step_0.npy", step(2, 2, type)},
                                    {"step_1.npy", step(1, 3, type)},
                                    {"step_2.npy", step(1, 4, type)}}));
    EXPECT_EQ(trace.info().tokens, 4U);
    EXPECT_EQ(trace.info().query_heads, 2U);
    EXPECT_THAT(numbers(trace.layer(0).attention),
                ElementsAre(0, 0, 0, 0, 10, 11, 0, 0, 20, 21, 22, 0, 30, 31, 32, 33,  //
                            100, 0, 0, 0, 110, 111, 0, 0, 120, 121, 122, 0, 130, 131, 132, 133));
  }
  EXPECT_EQ(with_heads(zip({{"step_0.npy", step(2, 2)}, {"kv_heads.npy", count_array(1)}}))
                .trace.info()
                .kv_heads,
            1U);
}

TEST(Dump, RefusesStepsThatDoNotFollowEachOther) {
  const auto refusal = [](const std::string& second) {
    return error_of(zip({{"step_0.npy", step(2, 2)}, {"step_1.npy", second}}));
  };
  EXPECT_THAT(refusal(step(1, 4)),
              HasSubstr("'step_1.npy' has shape [1, 2, 1, 4]; expected as many "
                        "keys as queries of this step and all before it"));
  EXPECT_THAT(refusal(step(1, 1)), HasSubstr("which had 2"));
  EXPECT_THAT(refusal(step(1, 3, "<f8")), HasSubstr("dtype of step_0"));
  EXPECT_THAT(refusal(four_heads()), HasSubstr("expected the layers, heads and dtype of step_0"));
  EXPECT_THAT(
      refusal(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", bytes_of({1, 1}))),
      HasSubstr("[layers, heads, queries, keys]"));
}

TEST(TokenWords, BecomeATranscript) {
  const Transcript words = parse_token_words(R"(["a", " b\n", "", "é"])", 4).value();
  EXPECT_EQ(words.text, "a b\né");
  EXPECT_THAT(words.text_ends, ElementsAre(1, 4, 4, 6));
}

TEST(TokenWords, SayWhatIsWrong) {
  const auto refusal = [](std::string_view json) {
    const auto words = parse_token_words(json, 2);
    return words ? "" : words.error().message;
  };
  EXPECT_THAT(refusal("[\"a\""), HasSubstr("not JSON"));
  EXPECT_THAT(refusal("{}"), HasSubstr("not a list"));
  EXPECT_THAT(refusal("[\"a\"]"), HasSubstr("has 1 entries; expected a JSON list"));
  EXPECT_THAT(refusal("[\"a\", 1]"), HasSubstr("entry 1 of the list of words is not a string"));
}

}  // namespace
}  // namespace kv
