// Which queries a trace records: the designs, what they draw, and files that record some.
#include "kvcheck/traces/query_sample.h"

#include <ctime>
#include <set>

#include "kvcheck/tests/traces/files.h"
#include "kvcheck/traces/files/edit.h"
#include "kvcheck/traces/files/save.h"
#include "kvcheck/traces/trace.h"
#include "kvcheck/traces/verify.h"

namespace kv {
namespace {

using namespace testing;

std::string printed(std::string_view text) {
  const auto design = parse_query_design(text);
  return design ? text_of(*design) : design.error().message;
}

TEST(QueryDesign, PrintsWhatItParsed) {
  for (const char* text :
       {"64/1000", "every:16", "every:16+3", "0-511", "7", "64/1000,0-511,600"}) {
    EXPECT_EQ(printed(text), text);
  }
  EXPECT_EQ(printed("10-19,0-4,5-9,30"), "0-19,30") << "spans that touch are one";
  EXPECT_EQ(printed("0-511,64/1000"), "64/1000,0-511");
}

TEST(QueryDesign, RefusesWhatSelectsNothingOrTwice) {
  EXPECT_THAT(printed("0/1000"), HasSubstr("expected a whole number from 1 to 1000"));
  EXPECT_THAT(printed("65/64"), HasSubstr("expected a whole number from 1 to 64"));
  EXPECT_THAT(printed("8/64,every:4"), HasSubstr("'every:4' of the queries is a second selection"));
  EXPECT_THAT(printed("every:4+4"), HasSubstr("expected a whole number from 0 to 3"));
  EXPECT_THAT(printed("9-3"), HasSubstr("expected a whole number from 9 to"));
  for (const char* text : {"", ",", "-3", "3-", "a", "4-5-6", "every", "1.5/3", "64/", "/64"}) {
    EXPECT_FALSE(parse_query_design(text)) << text;
  }
}

// Files may have as many spans as their header holds, and blocks of one position.
TEST(QueryDesign, CountsOutsideOfManySpansInTheirNumberAlone) {
  QueryDesign design{.drawn = 1, .block = 1};
  for (Position at = 0; at < 200000; at += 4) design.spans.push_back({at, at + 2});
  const std::clock_t begin = std::clock();
  for (std::size_t at = 0; at < 200000; ++at) {
    ASSERT_EQ(outside_spans(design, at, at + 1), at % 4 < 2 ? 0U : 1U) << at;
  }
  const auto seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  EXPECT_LT(seconds, 2);
  EXPECT_EQ(outside_spans(design, 1, 11), 5U);
  EXPECT_EQ(outside_spans(design, 199997, 200100), 102U);
  EXPECT_EQ(outside_spans(design, 2, 2), 0U);
}

std::vector<Position> drawn(std::string_view text, std::size_t tokens, std::uint64_t seed = 1) {
  return draw_queries(parse_query_design(text).value(), tokens, seed).value().queries;
}

std::size_t between(const std::vector<Position>& queries, Position first, Position last) {
  return static_cast<std::size_t>(std::ranges::count_if(
      queries, [&](Position query) { return query >= first && query < last; }));
}

TEST(QueryDesign, DrawsSoManyOfEveryBlock) {
  const std::vector<Position> queries = drawn("6/100", 1050);
  for (Position block = 0; block < 1000; block += 100) {
    EXPECT_EQ(between(queries, block, block + 100), 6U) << block;
  }
  EXPECT_EQ(between(queries, 1000, 1050), 3U) << "half a block, half as many";
  EXPECT_TRUE(std::ranges::is_sorted(queries, std::less_equal{}));
  EXPECT_EQ(drawn("6/100", 1050), queries);
  EXPECT_NE(drawn("6/100", 1050, 2), queries);
}

TEST(QueryDesign, SpansAreWholeAndAreNotDrawnFrom) {
  const std::vector<Position> queries = drawn("10/100,50-149", 200);
  EXPECT_EQ(between(queries, 50, 150), 100U);
  EXPECT_EQ(between(queries, 0, 50), 5U);
  EXPECT_EQ(between(queries, 150, 200), 5U);
}

// 4,000 draws of 3 of 12: each of the 12 is in 1,000 +- 5 standard deviations of them. This fails
// by chance once in 100,000 times; the seeds are fixed.
TEST(QueryDesign, EveryQueryOfABlockIsEquallyLikely) {
  std::vector<int> hits(12);
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    for (const Position query : drawn("3/12", 12, seed)) ++hits[query];
  }
  for (const int count : hits) EXPECT_NEAR(count, 1000, 5 * 27.4);
}

TEST(QueryDesign, RegularQueriesBeginAtAnyOffset) {
  std::set<Position> first;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const auto queries = drawn("every:4", 40, seed);
    EXPECT_EQ(queries.size(), 10U);
    EXPECT_EQ(queries[1] - queries[0], 4U);
    first.insert(queries[0]);
  }
  EXPECT_THAT(first, ElementsAre(0U, 1U, 2U, 3U));
  EXPECT_EQ(drawn("every:4+2", 10), (std::vector<Position>{2, 6}));
}

TEST(QueryDesign, PartsOfAMarkedStreamAreSpans) {
  const QueryDesign design = parse_query_design("answer,prompt,2-3").value();
  EXPECT_EQ(text_of(design), "2-3,prompt,answer");
  const DrawnQueries drawn = draw_queries(design, 9, 1, {.prompt = 4, .question = 3}).value();
  EXPECT_EQ(text_of(drawn.design), "0-3,7-8");
  EXPECT_EQ(drawn.queries, (std::vector<Position>{0, 1, 2, 3, 7, 8}));
  const auto error_of = [](std::string_view text, std::size_t tokens, const Marks& marks) {
    const auto none = draw_queries(parse_query_design(text).value(), tokens, 1, marks);
    return none ? "drawn" : none.error().message;
  };
  EXPECT_THAT(error_of("question", 9, {}), HasSubstr("not marked where the prompt ends"));
  EXPECT_THAT(error_of("question", 9, {.prompt = 4}), HasSubstr("question are named, and it has"));
  EXPECT_THAT(error_of("answer", 7, {.prompt = 4, .question = 3}), HasSubstr("has no token"));
  EXPECT_EQ(error_of("prompt", 2, {.prompt = 4}), "drawn");
}

TEST(QueryDesign, RefusesATextThatIsTooShort) {
  const auto refused = [](std::string_view text, std::size_t tokens) {
    const auto queries = draw_queries(parse_query_design(text).value(), tokens, 1);
    return queries ? std::string("drawn") : queries.error().message;
  };
  EXPECT_THAT(refused("0-64", 64), HasSubstr("go up to 64, and the text has 64 tokens"));
  EXPECT_THAT(refused("64/1000", 512), HasSubstr("the block of the queries is 1000"));
  EXPECT_THAT(refused("every:600", 512), HasSubstr("the step of the queries is 600"));
}

// A trace of two heads over ten tokens whose numbers say where they come from.
Trace ten_tokens() {
  constexpr std::size_t n = 10;
  std::vector<float> rows(2 * n * n);
  for (std::size_t head = 0; head < 2; ++head) {
    for (std::size_t query = 0; query < n; ++query) {
      float sum = 0;
      for (std::size_t key = 0; key < query; ++key) {
        rows[(head * n + query) * n + key] = 1.0F / static_cast<float>(16 << key);
        sum += rows[(head * n + query) * n + key];
      }
      rows[(head * n + query) * n + query] = 1 - sum;
    }
  }
  return test::attention_trace(2, n, rows);
}

Selection selection_of(const std::string& design, std::uint64_t seed = 1) {
  Selection selection;
  selection.queries = parse_query_design(design).value();
  selection.query_seed = seed;
  return selection;
}

Selection first_tokens(std::size_t tokens) {
  Selection selection;
  selection.tokens = tokens;
  return selection;
}

Trace some_queries(const Trace& trace, const std::string& design, std::uint64_t seed = 1) {
  const std::string path = test::temporary_path("some.safetensors");
  const Selection selection = selection_of(design, seed);
  EXPECT_TRUE(rewrite(trace, selection, Number::f32, path));
  return open_trace(path).value();
}

TEST(SampledTrace, HasTheRowsOfItsQueries) {
  const Trace all = ten_tokens();
  const Trace some = some_queries(all, "1/5,7-8");
  EXPECT_EQ(some.info().tokens, 10U);
  EXPECT_EQ(text_of(some.info().query_design.value()), "1/5,7-8");
  ASSERT_EQ(some.info().queries.size(), 4U);
  EXPECT_EQ(some.layer(0).attention.shape, (std::vector<std::size_t>{2, 4, 10}));
  EXPECT_TRUE(verify(some));
  for (std::size_t head = 0; head < 2; ++head) {
    for (std::size_t row = 0; row < 4; ++row) {
      const std::size_t query = some.info().queries[row];
      EXPECT_EQ(std::memcmp(some.layer(0).attention.data + 4 * (head * 4 + row) * 10,
                            all.layer(0).attention.data + 4 * (head * 10 + query) * 10, 40),
                0);
    }
  }
}

TEST(SampledTrace, CanBeCutAndSavedAgain) {
  const Trace some = some_queries(ten_tokens(), "2/5,1", 3);
  const std::string path = test::temporary_path("again.safetensors");
  ASSERT_TRUE(save_trace(some, path));
  EXPECT_EQ(open_trace(path).value().info().queries, some.info().queries);
  ASSERT_TRUE(rewrite(some, first_tokens(7), Number::f32, path));
  const Trace cut = open_trace(path).value();
  EXPECT_EQ(cut.info().tokens, 7U);
  for (const Position query : cut.info().queries) EXPECT_LT(query, 7U);
  EXPECT_TRUE(verify(cut));
  const auto none = rewrite(some, first_tokens(1), Number::f32, path);
  EXPECT_EQ(none.has_value(), some.info().queries.front() == 0);
  const auto twice = rewrite(some, selection_of("1/5"), Number::f32, path);
  EXPECT_THAT(twice.error().message, HasSubstr("queries of its own; expected all queries"));
}

TEST(SampledTrace, KeepsNoSpansBehindACut) {
  const std::string path = test::temporary_path("spans.safetensors");
  const auto cut = [&](const std::string& design, std::size_t tokens) {
    EXPECT_TRUE(
        rewrite(some_queries(ten_tokens(), design, 3), first_tokens(tokens), Number::f32, path));
    return text_of(*open_trace(path).value().info().query_design);
  };
  EXPECT_EQ(cut("1,3-8", 7), "1,3-6");
  EXPECT_EQ(cut("1,3-8", 2), "1");
  EXPECT_EQ(cut("every:2,7-9", 6).substr(0, 8), "every:2+");
  EXPECT_EQ(cut("1,3-8", 10), "1,3-8");
}

// A file of version 2 with these queries and this design.
std::string sampled_file(const std::vector<std::int32_t>& queries, const std::string& design) {
  const std::size_t m = queries.size();
  test::SmallQkv file;
  file.in_metadata(R"("version":"1")", R"("version":"2")");
  if (!design.empty()) file.metadata += R"(,"query_design":")" + design + "\"";
  const auto number = [](std::size_t n) { return std::to_string(n); };
  file.tensors =
      R"("layers.7.q":{"dtype":"F32","shape":[2,)" + number(m) + R"(,4],"data_offsets":[0,)" +
      number(32 * m) + R"(]},"layers.7.k":{"dtype":"F32","shape":[1,3,4],"data_offsets":[)" +
      number(32 * m) + "," + number(32 * m + 48) +
      R"(]},"layers.7.v":{"dtype":"F32","shape":[1,3,4],"data_offsets":[)" + number(32 * m + 48) +
      "," + number(32 * m + 96) + R"(]},"queries":{"dtype":"I32","shape":[)" + number(m) +
      R"(],"data_offsets":[)" + number(32 * m + 96) + "," + number(36 * m + 96) + "]}";
  file.data_bytes = 32 * m + 96;
  std::string bytes = file.bytes();
  const auto* data = reinterpret_cast<const char*>(queries.data());
  return bytes.append(data, 4 * m);
}

TEST(SampledTrace, FilesWithWrongQueriesAreRefused) {
  EXPECT_EQ(test::error_of(sampled_file({0, 2}, "")), "opened");
  EXPECT_EQ(test::error_of(sampled_file({0, 2}, "0,2")), "opened");
  EXPECT_THAT(test::error_of(sampled_file({}, "")), HasSubstr("'queries' is empty"));
  EXPECT_THAT(test::error_of(sampled_file({2, 0}, "")), HasSubstr("has 0 at 1 after 2"));
  EXPECT_THAT(test::error_of(sampled_file({1, 1}, "")),
              HasSubstr("expected each once, increasing"));
  EXPECT_THAT(test::error_of(sampled_file({1, 3}, "")), HasSubstr("has 3 at 1; expected 0 to 2"));
  EXPECT_THAT(test::error_of(sampled_file({-1, 1}, "")), HasSubstr("has -1 at 0; expected 0 to 2"));
  EXPECT_THAT(test::error_of(sampled_file({0, 2}, "0-2")),
              HasSubstr("has 2 of the queries from 0"));
  EXPECT_THAT(test::error_of(sampled_file({0, 2}, "0")), HasSubstr("does not select"));
  EXPECT_THAT(test::error_of(sampled_file({0, 2}, "0,2-9")),
              HasSubstr("has 1 of the queries from 2 to 9; expected all"));
  EXPECT_THAT(test::error_of(sampled_file({0, 1, 2}, "1/2")),
              HasSubstr("expected 1, by query_design"));
  EXPECT_THAT(test::error_of(sampled_file({0, 2}, "every:2+1")), HasSubstr("does not select"));
  EXPECT_THAT(test::error_of(sampled_file({0, 2}, "many")),
              HasSubstr("query_design: the part 'many'"));
  EXPECT_THAT(test::error_of(sampled_file({0, 2}, "0,answer")),
              HasSubstr("expected positions in place of 'answer'"));
  test::SmallQkv without;
  without.in_metadata(R"("version":"1")", R"("version":"2")");
  without.metadata += R"(,"query_design":"1/3")";
  EXPECT_THAT(test::error_of(without.bytes()), HasSubstr("there is no tensor 'queries'"));
}

TEST(SampledTrace, KvHeadNumbersAreThoseOfTheModel) {
  test::SmallQkv file;
  file.in_metadata(R"("version":"1")", R"("version":"2")");
  file.metadata += R"(,"kv_head_numbers":"5")";
  EXPECT_EQ(test::error_of(file.bytes()), "opened");
  file.in_metadata(R"("kv_head_numbers":"5")", R"("kv_head_numbers":"5,6")");
  EXPECT_THAT(test::error_of(file.bytes()), HasSubstr("kv_head_numbers has [5, 6]; expected 1"));
}

}  // namespace
}  // namespace kv
