#include "kvcheck/cli/report/compare.h"

#include <cstdlib>
#include <filesystem>

#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/store/results.h"
#include "kvcheck/tests/cli/run.h"
#include "kvcheck/tests/paths.h"
#include "kvcheck/tests/reports/fake_results.h"

namespace kv::cli {
namespace {

using test::Ran;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Replays of short streams of one kind, and what compare says of them.
class Compare : public ::testing::Test {
 protected:
  void SetUp() override { make_traces(8); }

  void make_traces(std::size_t count) {
    for (std::size_t seed = traces_.size() + 1; seed <= count; ++seed) {
      const std::string trace = folder_ / ("z" + std::to_string(seed) + ".safetensors");
      const Ran made = test::run({"trace", "generate", "zipf", "--tokens", "160", "--heads", "2",
                                  "--seed", std::to_string(seed), "-o", trace});
      ASSERT_EQ(made.status, 0) << made.err;
      traces_.push_back(trace);
    }
  }

  // Replays `count` of the traces into the file NAME.db and the lines NAME.jsonl.
  void replay(const std::string& name,
              std::size_t count,
              const std::vector<std::string>& specs,
              const std::vector<std::string>& more = {"--seeds", "2"}) {
    std::vector<std::string> words = {"replay"};
    words.insert(words.end(), traces_.begin(), traces_.begin() + static_cast<long>(count));
    for (const std::string& spec : specs) words.insert(words.end(), {"--policy", spec});
    words.insert(words.end(), more.begin(), more.end());
    words.insert(words.end(), {"--budget", "16,32", "--quiet", "-o", folder_ / (name + ".db"),
                               "--json", folder_ / (name + ".jsonl")});
    const Ran ran = test::run(words);
    ASSERT_EQ(ran.status, 0) << ran.err;
  }

  [[nodiscard]] Ran compare(std::vector<std::string> words) const {
    for (std::string& word : words) {
      if (word.ends_with(".db") || word.ends_with(".jsonl")) word = folder_ / word;
    }
    words.insert(words.begin(), "compare");
    return test::run(words);
  }

  test::TemporaryFolder folder_;
  std::vector<std::string> traces_;
};

const std::vector<std::string> four = {"h2o", "tova", "streaming", "random"};

// What identifies a text is its checksum.
TEST_F(Compare, CopiesUnderOtherNamesAreTheSameTexts) {
  replay("a", 7, four);
  for (std::string& trace : traces_) {
    const std::string copy = folder_ / ("copy-of-" + trace.substr(trace.find_last_of('/') + 1));
    std::filesystem::copy_file(trace, copy);
    trace = copy;
  }
  replay("b", 6, four);
  const Ran ran = compare({"a.db", "b.db", "--measure", "retained_mass"});
  EXPECT_EQ(ran.status, 3) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("same"), HasSubstr("1 text is in the first file only: z7")));
}

// These keep the same tokens, and add up what they keep in other orders.
TEST_F(Compare, RoundingDecidesNoRank) {
  replay("a", 8, {"h2o", "window", "streaming:sinks=0", "fifo:sinks=0"});
  const Ran ran =
      compare({"a.db", "--measure", "retained_mass", "--against", "window", "--json", "-"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  std::size_t same = 0;
  for (const std::string_view line : split(ran.out, '\n')) {
    if (line.find("h2o") != line.npos || line.empty()) continue;
    EXPECT_NE(line.find("\"rank\":3,\"rank_low\":3,\"rank_high\":3,"), line.npos) << line;
    if (line.find("\"finding\":\"same\"") != line.npos) ++same;
  }
  EXPECT_EQ(same, 4U);
}

TEST_F(Compare, SaysWhereMeansBeginAtOtherQueries) {
  replay("a", 8, {"h2o;timing=lazy:4", "streaming;timing=lazy:14", "tova", "h2o"});
  const std::string words =
      "Means begin where each spec first loses a token, which is not the same";
  const Ran late = compare({"a.db", "--measure", "retained_mass", "--policies", "h2o;timing=lazy:4",
                            "--policies", "streaming;timing=lazy:14"});
  EXPECT_THAT(late.out, HasSubstr(words)) << late.err;
  const Ran same = compare({"a.db", "--measure", "retained_mass", "--policies", "tova",
                            "--policies", "h2o:budget=16", "--policies", "h2o:budget=32"});
  EXPECT_THAT(same.out, Not(HasSubstr(words)));
}

TEST_F(Compare, AFileEqualsItself) {
  replay("a", 8, four);
  const Ran ran = compare({"a.db", "a.db"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("retained mass once evicting, 8 texts"), HasSubstr("same"),
                             HasSubstr("Same: all values are equal to the last bit."),
                             Not(HasSubstr("worse"))));
}

TEST_F(Compare, AWorsePolicyIsFoundAndEndsWith1) {
  replay("before", 8, {"h2o:sinks=4"});
  replay("after", 8, {"h2o:sinks=4"});
  // The same spec with the results of another policy, as a faulty version would leave it.
  const std::string change =
      "python3 -c \"import sqlite3,sys; d=sqlite3.connect(sys.argv[1]); "
      "d.execute('UPDATE heads SET retained_mass = retained_mass - 0.1'); d.commit()\" '" +
      (folder_ / "after.db") + "'";
  ASSERT_EQ(std::system(change.c_str()), 0);
  const Ran worse = compare({"before.db", "after.db", "--measure", "retained_mass"});
  EXPECT_EQ(worse.status, 1) << worse.err;
  EXPECT_THAT(worse.out, HasSubstr("worse"));
  const Ran better = compare({"after.db", "before.db", "--measure", "retained_mass"});
  EXPECT_EQ(better.status, 0);
  EXPECT_THAT(better.out, HasSubstr("better"));
  // A margin that allows it.
  EXPECT_EQ(
      compare({"before.db", "after.db", "--measure", "retained_mass", "--margin", "0.9"}).status,
      0);
}

TEST_F(Compare, FewTextsAreJudgedByTheMarginAlone) {
  replay("few", 2, {"h2o:sinks=4"});
  replay("other", 2, {"h2o:sinks=4"});
  const std::string change =
      "python3 -c \"import sqlite3,sys; d=sqlite3.connect(sys.argv[1]); "
      "d.execute('UPDATE heads SET retained_mass = retained_mass - 0.05'); d.commit()\" '" +
      (folder_ / "other.db") + "'";
  ASSERT_EQ(std::system(change.c_str()), 0);
  const Ran ran = compare({"few.db", "other.db", "--measure", "retained_mass"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out, HasSubstr("few texts"));
  EXPECT_EQ(compare({"few.db", "other.db", "--measure", "retained_mass", "--margin", "0.2"}).status,
            0);
}

TEST_F(Compare, WhatOneFileLacksIsNamed) {
  replay("a", 8, four);
  replay("b", 7, {"h2o", "tova"});
  const Ran ran = compare({"a.db", "b.db", "--measure", "retained_mass"});
  EXPECT_EQ(ran.status, 3);
  EXPECT_THAT(ran.err, HasSubstr("the second file is not complete: 1 text is"));
  EXPECT_THAT(ran.out, AllOf(HasSubstr("7 texts"),
                             HasSubstr("1 text is in the first file only: z8.safetensors"),
                             HasSubstr("4 specs are in the first file only: streaming at ")));
  // What is only in the second file was added.
  EXPECT_EQ(compare({"b.db", "a.db", "--measure", "retained_mass"}).status, 0);
}

TEST_F(Compare, ALostValueIsNamedAndALostMeasureCounts) {
  replay("a", 7, {"h2o", "tova"}, {"--oracle"});
  replay("b", 6, {"h2o", "tova"});
  std::swap(traces_.front(), traces_[6]);
  replay("b", 1, {"tova"});
  const Ran value = compare({"a.db", "b.db", "--measure", "retained_mass"});
  EXPECT_EQ(value.status, 3);
  EXPECT_THAT(value.out, HasSubstr("2 values are in the first file only: h2o at 16 on z7"));
  replay("c", 7, {"h2o", "tova"});
  replay("d", 7, {"h2o", "tova"}, {"--oracle"});
  const Ran measure = compare({"d.db", "c.db"});
  EXPECT_EQ(measure.status, 3);
  EXPECT_THAT(measure.err, HasSubstr("in optimum_share"));
  EXPECT_EQ(compare({"c.db", "d.db"}).status, 0);
}

// Of policies that draw, the others run with one seed, whichever it is.
TEST_F(Compare, SeedsThatBothFilesHaveCount) {
  replay("two", 3, {"h2o", "random"});
  replay("three", 3, {"h2o", "random"}, {"--seeds", "3"});
  const Ran more = compare({"two.db", "three.db", "--measure", "retained_mass"});
  EXPECT_EQ(more.status, 0) << more.out;
  EXPECT_THAT(more.out, AllOf(HasSubstr("2 specs are measured with more seeds in the second"),
                              Not(HasSubstr("few texts"))));
  EXPECT_EQ(compare({"three.db", "two.db", "--measure", "retained_mass"}).status, 3);
  // The means differ by more than the margin in one of the directions.
  replay("other", 3, {"h2o", "random"}, {"--seed", "12"});
  for (const auto& [before, after] : {std::pair{"two.db", "other.db"}, {"other.db", "two.db"}}) {
    const Ran ran = compare({before, after, "--measure", "retained_mass", "--margin", "0"});
    EXPECT_EQ(ran.status, 3) << ran.out;
    EXPECT_THAT(ran.out, AllOf(HasSubstr("few texts"),
                               HasSubstr("2 specs are without a common seed on some text")));
  }
}

TEST_F(Compare, SpecsAreRankedAgainstTheBestOrTheNamedOne) {
  replay("a", 8, four);
  const Ran best = compare({"a.db", "--measure", "retained_mass"});
  EXPECT_EQ(best.status, 0);
  EXPECT_THAT(best.out, HasSubstr("Each is compared with the best of its budget"));
  EXPECT_THAT(best.out, HasSubstr("corrected for 12 tests"));
  const Ran named = compare({"a.db", "--measure", "retained_mass", "--against", "streaming"});
  EXPECT_THAT(named.out, AllOf(HasSubstr("better"), HasSubstr("corrected for 6 tests")));
  const Ran fixed =
      compare({"a.db", "--measure", "retained_mass", "--against", "streaming:budget=16"});
  EXPECT_THAT(fixed.out, AllOf(HasSubstr("streaming at 16"), HasSubstr("for 7 tests")));
  const Ran csv = compare({"a.db", "--csv", "-"});
  // One header, and the rows of two measures.
  EXPECT_EQ(std::ranges::count(csv.out, '\n'), 1 + 2 * 8);
}

TEST_F(Compare, AgreesWithNumPyWithin1e9) {
  const std::string& python = test::python_with_numpy();
  if (python.empty()) GTEST_SKIP() << "no python3 with numpy on this machine";
  replay("a", 8, four);
  replay("b", 8, four, {"--seed", "7"});
  const std::string reference =
      python + " " KVCHECK_SOURCE_DIR "/tests/reports/compare_reference.py ";
  ASSERT_EQ(compare({"a.db", "--measure", "retained_mass", "--json", "best.jsonl"}).status, 0);
  const std::string best = "best " + (folder_ / "best.jsonl") + " " + (folder_ / "a.jsonl");
  EXPECT_EQ(std::system((reference + best).c_str()), 0);
  // Of more than 16 texts signs are drawn.
  make_traces(18);
  replay("many", 18, {"h2o", "tova", "random"});
  ASSERT_EQ(compare({"many.db", "--measure", "retained_mass", "--json", "drawn.jsonl"}).status, 0);
  const std::string drawn = "best " + (folder_ / "drawn.jsonl") + " " + (folder_ / "many.jsonl");
  EXPECT_EQ(std::system((reference + drawn).c_str()), 0);
  const Ran seeds =
      compare({"a.db", "b.db", "--measure", "retained_mass", "--json", "files.jsonl"});
  EXPECT_TRUE(seeds.status == 1 || seeds.status == 3) << seeds.err;
  const std::string files = "files " + (folder_ / "files.jsonl") + " " + (folder_ / "a.jsonl") +
                            " " + (folder_ / "b.jsonl");
  EXPECT_EQ(std::system((reference + files).c_str()), 0);
}

TEST_F(Compare, EvaluationsAreComparedByTheirLoss) {
  for (const char* name : {"one.db", "two.db"}) {
    auto writer = reports::ResultsWriter::begin(folder_ / name, "kvcheck eval");
    ASSERT_TRUE(writer);
    ASSERT_TRUE(writer->add(testing::fake_evaluation(512, true)));
    ASSERT_TRUE(writer->finish());
  }
  const Ran ran = compare({"one.db", "two.db"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("loss per token, nats, 1 text"), HasSubstr("recall"),
                             Not(HasSubstr("retained"))));
}

TEST_F(Compare, AModelIsTheSameInAnotherFolder) {
  const auto write = [&](const char* name, const std::string& model, std::size_t bytes) {
    ClosedLoopResult result = testing::fake_evaluation(512, true);
    result.model = model;
    result.inputs.weights = 42;
    result.weight_bytes = bytes;
    auto writer = reports::ResultsWriter::begin(folder_ / name, "kvcheck eval");
    ASSERT_TRUE(writer && writer->add(result) && writer->finish());
  };
  write("one.db", "models/small", 1000);
  write("two.db", "/cache/snapshots/0123", 1000);
  write("int8.db", "models/small", 260);
  const Ran moved = compare({"one.db", "two.db"});
  EXPECT_EQ(moved.status, 0) << moved.err;
  EXPECT_THAT(moved.out, AllOf(HasSubstr("loss per token, nats, 1 text"), Not(HasSubstr("types"))));
  EXPECT_THAT(compare({"one.db", "int8.db"}).out,
              HasSubstr("The two files store the weights of the models as other types"));
}

TEST_F(Compare, WrongWordsAreAnsweredInOneSentence) {
  replay("a", 1, {"h2o"});
  const auto error_of = [&](const std::vector<std::string>& words) {
    const Ran ran = compare(words);
    EXPECT_EQ(ran.status, 2) << ran.out;
    EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
    return ran.err;
  };
  EXPECT_THAT(error_of({"a.db", "--measure", "retained"}), HasSubstr("'retained_mass'"));
  EXPECT_THAT(error_of({"a.db", "--against", "tova"}), HasSubstr("which no run has"));
  EXPECT_THAT(error_of({"a.db", "a.db", "--against", "h2o"}), HasSubstr("is for one file"));
  EXPECT_THAT(error_of({"a.db", "--margin", "-1"}), HasSubstr("--margin"));
  EXPECT_THAT(error_of({"a.db", "--run", "7"}), HasSubstr("7"));
  EXPECT_THAT(error_of({"a.db"}), AllOf(HasSubstr("no two specs to compare"),
                                        HasSubstr("; --against names a spec to compare all with")));
  EXPECT_THAT(error_of({"a.db", "--measure", "loss"}), HasSubstr("no two specs"));
  EXPECT_THAT(error_of({"none.db"}), HasSubstr("none.db"));
  EXPECT_THAT(error_of({"a.db", "a.db", "a.db"}), HasSubstr("expected"));
  EXPECT_THAT(error_of({"a.db", "a.db", "--json", "a.db"}), HasSubstr("a.db"));
}

}  // namespace
}  // namespace kv::cli
