// kvcheck compare over the runs of kvcheck speed.
#include <algorithm>

#include "kvcheck/reports/compare/measured.h"
#include "kvcheck/reports/compare/run_sizes.h"
#include "kvcheck/reports/store/results.h"
#include "kvcheck/tests/cli/run.h"
#include "kvcheck/tests/reports/fake_results.h"

namespace kv::cli {
namespace {

using reports::lengths_of;
using reports::measured;
using test::Ran;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::size_t all_runs = 8;

// Two specs at each length; in run N the first takes N + 1 microseconds of attention and the second
// twice as long, and a little more or less so that no two differences are equal.
TimingResult timing_at(const std::vector<std::size_t>& lengths) {
  TimingResult result{
      .model = "models/m", .weights = "as-is", .storage = "f32", .tokens = 4, .threads = 1};
  for (std::size_t repetition = 1; repetition <= all_runs; ++repetition) {
    for (const std::string spec : {"window:budget=16", "h2o:budget=16"}) {
      for (const std::size_t length : lengths) {
        const double run = static_cast<double>(repetition);
        const double base = 1e-6 * (run + 1);
        const double attention = spec[0] == 'w' ? base : 2 * base + 1e-8 * run * run;
        result.cells.push_back({.cell = {.spec = parse_spec(spec).value(), .seed = 1},
                                .length = length,
                                .first_token_s = 0.5,
                                .token_s = 3 * attention,
                                .attention_s = attention,
                                .kv_bytes = 4096,
                                .peak_bytes = 0,
                                .repetition = repetition});
      }
    }
  }
  return result;
}

class CompareTimings : public ::testing::Test {
 protected:
  std::string store(const std::string& name, const std::vector<TimingResult>& timings) {
    auto writer = reports::ResultsWriter::begin(folder_ / name, "kvcheck speed");
    EXPECT_TRUE(writer);
    for (const TimingResult& timing : timings) EXPECT_TRUE(writer->add(timing));
    EXPECT_TRUE(writer->finish());
    return folder_ / name;
  }

  static Ran compare(std::vector<std::string> words) {
    words.insert(words.begin(), "compare");
    return test::run(words);
  }

  // The texts of the measure over these timings.
  static reports::MeasuredTexts texts_of(const std::vector<TimingResult>& timings,
                                         std::string_view name,
                                         const reports::Selection& selection = {}) {
    reports::StoredRun run;
    run.timings = timings;
    const auto at = std::ranges::find(reports::measures(), name, &reports::Measure::name);
    return measured(std::span(&run, 1), *at, selection);
  }

  test::TemporaryFolder folder_;
};

// A margin of 0.01 seconds would call all of these equal.
TEST_F(CompareTimings, TheUsualMarginIsAShareOfTheMean) {
  const std::string file = store("run.db", {timing_at({64})});
  const Ran ran = compare({file, "--measure", "attention_s"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("worse"), HasSubstr("equality within 4.2e-07 is"),
                             Not(HasSubstr("Equal"))));
}

TEST_F(CompareTimings, PairRunsOfTheSameNumber) {
  const std::string file = store("a.db", {timing_at({256})});
  const Ran ran = compare({file, "--measure", "attention_s", "--margin", "0"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("time of a token in attention, seconds, 8 runs"),
                             HasSubstr("random signs over runs"), HasSubstr("worse")));
  // 5.5 and 11.255 microseconds: four digits, not four decimals.
  EXPECT_THAT(ran.out, AllOf(HasSubstr("0.000005500"), HasSubstr("0.00001125")));
  const auto found = texts_of({timing_at({256})}, "attention_s");
  ASSERT_EQ(found.texts.size(), all_runs);
  EXPECT_EQ(found.texts[2], "run 3 of m, weights as-is, f32, 1 thread, 256 tokens before 4");
  EXPECT_EQ(found.specs[0].values[2], 4e-6);
  EXPECT_EQ(texts_of({timing_at({256})}, "kv_bytes").specs[1].values[7], 4096);
  EXPECT_EQ(texts_of({timing_at({256})}, "token_s").specs[0].values[0], 6e-6);
  EXPECT_EQ(texts_of({timing_at({256})}, "first_token_s").specs[0].values[0], 0.5);
  // The system did not report it.
  EXPECT_TRUE(texts_of({timing_at({256})}, "peak_bytes").specs.empty());
}

TEST_F(CompareTimings, AreOfOneSettingEach) {
  const TimingResult first = timing_at({256});
  std::vector<TimingResult> others(6, first);
  others[1].storage = "f16";
  others[2].threads = 2;
  others[3].weights = "int8";
  others[4].tokens = 5;
  others[5].model = "models/n";
  for (std::size_t i = 0; i < others.size(); ++i) {
    EXPECT_EQ(texts_of({first, others[i]}, "token_s").texts.size(), (i == 0 ? 1 : 2) * all_runs)
        << i;
  }
}

TEST_F(CompareTimings, AreOfOneProcessorAndItsKernels) {
  const auto run_by = [](const std::string& kernels, const std::string& processor) {
    TimingResult result = timing_at({256});
    for (TimedCell& cell : result.cells) {
      cell.kernels = kernels;
      cell.processor = processor;
    }
    return result;
  };
  const TimingResult first = run_by("avx512", "a");
  EXPECT_EQ(texts_of({first}, "token_s").texts[2],
            "run 3 of m, weights as-is, f32, 1 thread, avx512 kernels on a, 256 tokens before 4");
  EXPECT_EQ(texts_of({first, first}, "token_s").texts.size(), all_runs);
  for (const TimingResult& other : {run_by("avx2", "a"), run_by("avx512", "b"), run_by("", "")}) {
    EXPECT_EQ(texts_of({first, other}, "token_s").texts.size(), 2 * all_runs);
  }
  const Ran ran = compare(
      {store("a.db", {first}), store("b.db", {run_by("avx2", "a")}), "--measure", "token_s"});
  EXPECT_EQ(ran.status, 2) << ran.out;
  EXPECT_THAT(ran.err, HasSubstr("have no text and spec in common"));
  EXPECT_THAT(ran.err,
              HasSubstr("8 runs are in the first file only: run 1 of m, weights as-is, f32, "
                        "1 thread, avx512 kernels on a"));
  EXPECT_THAT(ran.err, HasSubstr("8 runs are in the second file only: run 1 of m, weights as-is, "
                                 "f32, 1 thread, avx2 kernels on a"));
}

TEST_F(CompareTimings, AreOfOneLengthAtATime) {
  const std::string file = store("a.db", {timing_at({256, 512})});
  const auto error_of = [](const std::vector<std::string>& words) {
    const Ran ran = compare(words);
    EXPECT_EQ(ran.status, 2) << ran.out;
    EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
    return ran.err;
  };
  EXPECT_THAT(error_of({file, "--measure", "token_s"}),
              HasSubstr("a.db has timings after prompts of 256, 512 tokens, which are not "
                        "different runs; expected --length with one of these"));
  EXPECT_THAT(error_of({file, file, "--measure", "token_s"}), HasSubstr("a.db have timings"));
  EXPECT_THAT(error_of({file, "--measure", "token_s", "--length", "300"}),
              HasSubstr("tokens, not of 300; expected --length"));
  EXPECT_THAT(error_of({file, "--measure", "retained_mass", "--length", "256"}),
              HasSubstr("expected --measure with one of theirs"));
  const Ran one = compare({file, "--measure", "token_s", "--length", "512"});
  EXPECT_EQ(one.status, 0) << one.err;
  EXPECT_THAT(one.out, HasSubstr("time of a token, seconds, 8 runs"));
  EXPECT_EQ(texts_of({timing_at({256, 512})}, "token_s", {.length = std::size_t{512}}).texts.size(),
            all_runs);
}

TEST_F(CompareTimings, AreComparedOnlyIfTheyAreNamed) {
  TimingResult slower = timing_at({256});
  for (TimedCell& cell : slower.cells) {
    cell.attention_s *= 2 + 0.01 * static_cast<double>(cell.repetition);
  }
  const std::string before = store("a.db", {timing_at({256})});
  const std::string after = store("b.db", {slower});
  EXPECT_THAT(compare({before, after}).err, HasSubstr("have no text and spec in common"));
  const Ran named = compare({before, after, "--measure", "attention_s", "--margin", "0"});
  EXPECT_EQ(named.status, 1) << named.err;
  EXPECT_THAT(named.out, HasSubstr("worse"));
  EXPECT_EQ(compare({after, before, "--measure", "attention_s", "--margin", "0"}).status, 0);
}

TEST_F(CompareTimings, AFewRunsAreCalledSo) {
  TimingResult few = timing_at({256});
  std::erase_if(few.cells, [](const TimedCell& cell) { return cell.repetition > 1; });
  const Ran ran = compare({store("a.db", {few}), "--measure", "token_s"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("seconds, 1 run\n"), HasSubstr("few runs"),
                             HasSubstr("Few runs: fewer than 6")));
  const Ran means = compare({store("b.db", {timing_at({256})}), "--means", "--measure", "token_s"});
  EXPECT_THAT(means.out, AllOf(HasSubstr("Means over 8 runs"), HasSubstr("0.00001650 (0.0000")));
}

TEST_F(CompareTimings, AreNotInAReportOverTexts) {
  const std::string file = store("a.db", {timing_at({256})});
  ASSERT_EQ(test::run({"report", file, "-o", folder_ / "report"}).status, 0);
  EXPECT_EQ(test::read_text(folder_ / "report/texts/token_s.csv"), "");
  EXPECT_THAT(test::read_text(folder_ / "report/timing-1/timings.csv"), HasSubstr(",8\n"));
}

}  // namespace
}  // namespace kv::cli
