#include "kvcheck/cli/report/hypotheses.h"

#include <cstdlib>

#include "kvcheck/base/file.h"
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

// Replays of eight short streams of one kind, and statements about them.
class HypothesesCommand : public ::testing::Test {
 protected:
  void replay(int streams, const std::string& name) {
    std::vector<std::string> words = {"replay"};
    for (int seed = 1; seed <= streams; ++seed) {
      const std::string trace = folder_ / ("z" + std::to_string(seed) + ".safetensors");
      const Ran made = test::run({"trace", "generate", "zipf", "--tokens", "120", "--heads", "2",
                                  "--seed", std::to_string(seed), "-o", trace});
      ASSERT_EQ(made.status, 0) << made.err;
      words.push_back(trace);
    }
    for (const char* spec : {"h2o", "streaming", "random", "reservoir"}) {
      words.insert(words.end(), {"--policy", spec});
    }
    words.insert(words.end(), {"--budget", "16,64", "--seeds", "3", "--quiet", "-o",
                               folder_ / (name + ".db"), "--json", folder_ / (name + ".jsonl")});
    const Ran ran = test::run(words);
    ASSERT_EQ(ran.status, 0) << ran.err;
  }

  // Conditions whose results are files of the folder.
  Ran decide(const std::string& conditions, const std::vector<std::string>& options = {}) {
    std::string text =
        R"({"hypotheses": [{"hypothesis": "It is so.", "source": "me", "note": "Only a test.",
            "conditions": [)" +
        conditions + "]}]}";
    for (std::size_t at = 0; (at = text.find("IN/", at)) != std::string::npos;) {
      text.replace(at, 3, folder_ / "");
    }
    EXPECT_TRUE(write_file(folder_ / "said.json", text));
    std::vector<std::string> words = {"hypotheses", folder_ / "said.json"};
    words.insert(words.end(), options.begin(), options.end());
    return test::run(words);
  }

  test::TemporaryFolder folder_;
};

const std::string of_mass = R"({"results": "IN/a.db", "measure": "retained_mass", )";

TEST_F(HypothesesCommand, DecidesByTheIntervalOverTexts) {
  replay(8, "a");
  const std::string more =
      of_mass + R"("of": "h2o:budget=64", "against": "h2o:budget=16", "difference": {"above": 0}})";
  const std::string less =
      of_mass + R"("of": "h2o:budget=16", "against": "h2o:budget=64", "ratio": {"above": 1}})";
  const Ran holds = decide(more, {"--strict"});
  EXPECT_EQ(holds.status, 0) << holds.out << holds.err;
  EXPECT_THAT(holds.out, AllOf(HasSubstr("It is so."), HasSubstr("Holds."), HasSubstr("8 texts")));
  const Ran fails = decide(less, {"--strict"});
  EXPECT_EQ(fails.status, 1);
  EXPECT_THAT(fails.out, HasSubstr("Does not hold."));
  const Ran part = decide(more + "," + less, {"--strict"});
  EXPECT_EQ(part.status, 1);
  EXPECT_THAT(part.out, HasSubstr("Holds in part."));
  EXPECT_EQ(decide(less).status, 0);
  const Ran page = decide(more, {"--markdown", "-"});
  EXPECT_THAT(page.out, AllOf(HasSubstr("| [1](#hypothesis-1) | It is so. | **holds** |"),
                              HasSubstr("*(me)*"), HasSubstr("**Holds.** Only a test."),
                              HasSubstr("| h2o:budget=64 | minus h2o:budget=16 |")));
}

// The mean of a layer's heads, as compare has it: both layers together have the mean of the cell.
TEST_F(HypothesesCommand, MayBeOfOneLayer) {
  std::vector<std::string> words = {"replay"};
  for (int seed = 1; seed <= 6; ++seed) {
    words.push_back("synthetic:zipf:tokens=96,layers=2,heads=2,seed=" + std::to_string(seed));
  }
  words.insert(words.end(), {"--policy", "h2o:budget=16", "-q", "-o", folder_ / "a.db"});
  ASSERT_EQ(test::run(words).status, 0);
  const auto value_in = [&](const std::string& layer) {
    const Ran ran = decide(of_mass + layer + R"("of": "h2o:budget=16", "mean": {"above": 0}})",
                           {"--json", "-"});
    EXPECT_EQ(ran.status, 0) << ran.err;
    return std::stod(ran.out.substr(ran.out.find("\"value\":") + 8));
  };
  const double first = value_in(R"("layer": 0, )");
  const double second = value_in(R"("layer": 1, )");
  EXPECT_NE(first, second);
  EXPECT_NEAR(value_in(""), (first + second) / 2, 1e-12);
  const std::string mean = R"("of": "h2o:budget=16", "mean": {"above": 0}})";
  EXPECT_THAT(decide(of_mass + R"("layer": 1, )" + mean).out, HasSubstr(", layer 1"));
  const Ran none = decide(of_mass + R"("layer": 2, )" + mean);
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.err, HasSubstr("a.db' has no heads of layer 2; expected another, such as 0"));
}

TEST_F(HypothesesCommand, FewTextsDecideNothing) {
  replay(5, "a");
  const Ran ran = decide(of_mass + R"("of": "h2o:budget=64", "mean": {"above": 0}})", {"--strict"});
  EXPECT_EQ(ran.status, 3) << ran.out;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("Not decided."), HasSubstr("5 texts")));
}

TEST_F(HypothesesCommand, AgreesWithNumPyWithin1e9) {
  std::string python;
  for (const std::string candidate : {"python3", "/usr/bin/python3"}) {
    const std::string probe = candidate + " -c 'import numpy' >/dev/null 2>&1";
    if (python.empty() && std::system(probe.c_str()) == 0) python = candidate;
  }
  if (python.empty()) GTEST_SKIP() << "no python3 with numpy on this machine";
  replay(8, "a");
  std::string conditions;
  for (const std::string what :
       {R"("of": "h2o:budget=16", "against": "streaming:budget=16", "ratio": {"above": 1}})",
        R"("of": "h2o:budget=16", "against": "random:budget=16", "difference": {"below": 0.05}})",
        R"("of": "random:budget=16", "mean": {"above": 0.5, "below": 0.9}})",
        R"("of": "random:budget=64", "against": "random:budget=16", "spread": true,
           "ratio": {"below": 1}})",
        R"("of": "reservoir:budget=16", "spread": true, "mean": {"above": 0.001}})"}) {
    conditions += (conditions.empty() ? "" : ",") + of_mass + what;
  }
  ASSERT_EQ(decide(conditions, {"--json", folder_ / "verdicts.jsonl"}).status, 0);
  const std::string reference = python +
                                " " KVCHECK_SOURCE_DIR "/tests/reports/hypotheses_reference.py " +
                                (folder_ / "verdicts.jsonl") + " " + (folder_ / "a.jsonl");
  EXPECT_EQ(std::system(reference.c_str()), 0);
}

TEST_F(HypothesesCommand, PerplexitiesAreExponentialsOfLosses) {
  auto writer = reports::ResultsWriter::begin(folder_ / "e.db", "kvcheck eval");
  ASSERT_TRUE(writer);
  for (std::uint64_t text = 1; text <= 6; ++text) {
    ClosedLoopResult result = testing::fake_evaluation(512, true);
    result.checksum = text;
    ASSERT_TRUE(writer->add(result));
  }
  ASSERT_TRUE(writer->finish());
  const std::string spec = testing::fake_evaluation(512, true).cells.front().cell.spec.canonical();
  const std::string of = R"({"results": "IN/e.db", "of": ")" + spec + R"(", "measure": )";
  const Ran loss = decide(of + R"("loss", "mean": {"above": 0}})", {"--json", "-"});
  const Ran perplexity = decide(of + R"("perplexity", "mean": {"above": 0}})", {"--json", "-"});
  const auto mean = [](const Ran& ran) {
    EXPECT_EQ(ran.status, 0) << ran.err;
    return std::stod(ran.out.substr(ran.out.find("\"value\":") + 8));
  };
  EXPECT_NEAR(mean(perplexity), std::exp(mean(loss)), 1e-12);
}

// Two caches that answer six items alike may answer others differently.
TEST_F(HypothesesCommand, ItemsThatAgreeDecideNothingByThemselves) {
  auto writer = reports::ResultsWriter::begin(folder_ / "t.db", "kvcheck eval");
  ASSERT_TRUE(writer);
  TaskResult tasks = testing::fake_tasks();
  tasks.cells[1].answers = tasks.cells[0].answers;
  ASSERT_TRUE(writer->add(tasks));
  ASSERT_TRUE(writer->finish());
  const std::string alike = R"({"results": "IN/t.db", "measure": "exact", "of": "window:budget=32",
                                "against": "dense", )";
  for (const std::string close :
       {R"("difference": {"above": -0.01, "below": 0.01}})", R"("ratio": {"above": 0.99}})"}) {
    EXPECT_EQ(decide(alike + close, {"--strict"}).status, 3) << close;
  }
  EXPECT_EQ(decide(alike + R"("difference": {"above": -0.5, "below": 0.5}})", {"--strict"}).status,
            0);
}

TEST_F(HypothesesCommand, LawsAndSamplesAreThoseOfTheirFiles) {
  const auto write = [&](const std::string& name, std::vector<std::string> words, int status) {
    words.insert(words.end(), {"--quiet", "--json", folder_ / name});
    const Ran ran = test::run(words);
    ASSERT_EQ(ran.status, status) << ran.out << ran.err;
  };
  write("held.jsonl", {"check", "streaming:sinks=1,recent=3", "--filter", "resident.recent"}, 0);
  write("even.jsonl",
        {"uniformity", "reservoir:sinks=1,recent=2,budget=8", "--tokens", "24", "--trials", "400"},
        0);
  write("uneven.jsonl",
        {"uniformity", "reservoir-as-printed:sinks=1,recent=2,budget=8", "--tokens", "24",
         "--trials", "2000"},
        1);
  const Ran law = decide(R"({"results": "IN/held.jsonl", "law": "resident.recent"})", {"--strict"});
  EXPECT_EQ(law.status, 0) << law.out << law.err;
  // 1 - 0.05^(1 / 300)
  EXPECT_THAT(law.out, HasSubstr("held in 300 cases, so at most 0.99 % of such cases break it"));
  EXPECT_EQ(decide(R"({"results": "IN/even.jsonl", "uniform": "reservoir"})", {"--strict"}).status,
            0);
  EXPECT_EQ(
      decide(R"({"results": "IN/uneven.jsonl", "uniform": "reservoir-as-printed"})", {"--strict"})
          .status,
      1);
  EXPECT_TRUE(write_file(folder_ / "cut.jsonl",
                         R"({"subject":"a","laws":[{"law":"x","status":"held","cases":9}]})"
                         "\n"
                         R"({"subject":"b","laws":[{"law":"x","status":"not_run","cases":0}]})"));
  const Ran cut = decide(R"({"results": "IN/cut.jsonl", "law": "x"})", {"--strict"});
  EXPECT_EQ(cut.status, 3);
  EXPECT_THAT(cut.out, HasSubstr("b: not run in 0 cases"));
  const Ran none = decide(R"({"results": "IN/held.jsonl", "law": "no.law"})");
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.err, AllOf(HasSubstr("hypotheses[0].conditions[0]"), HasSubstr("'no.law'")));
  const Ran other = decide(R"({"results": "IN/even.jsonl", "law": "resident.recent"})");
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.err, HasSubstr("kvcheck check --json"));
}

// One text that two models read is not two texts.
TEST_F(HypothesesCommand, ResultsOfSeveralSettingsAreNotCounted) {
  auto writer = reports::ResultsWriter::begin(folder_ / "e.db", "kvcheck eval");
  ASSERT_TRUE(writer);
  ClosedLoopResult result = testing::fake_evaluation(512, true);
  const std::string spec = result.cells.front().cell.spec.canonical();
  ASSERT_TRUE(writer->add(result));
  result.storage = "f16 of another";
  ASSERT_TRUE(writer->add(result));
  ASSERT_TRUE(writer->finish());
  const Ran ran =
      decide(R"({"results": "IN/e.db", "measure": "loss", "mean": {"above": 0}, "of": ")" + spec +
             R"("})");
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, AllOf(HasSubstr("f16 of another"), HasSubstr("not different texts")));
}

TEST_F(HypothesesCommand, FindingsAreFinalAndOfOneLine) {
  const std::string held = R"({"subject":"a","laws":[{"law":"x","status":"held","cases":9}]})";
  const auto law = [&](const std::string& status) {
    EXPECT_TRUE(write_file(folder_ / "l.jsonl",
                           held + "\n" + R"({"subject":"b","laws":[{"law":"x","status":")" +
                               status +
                               R"(","cases":3},{"law":"x","status":"not_run","cases":0}]})"));
    return decide(R"({"results": "IN/l.jsonl", "law": "x"})", {"--strict"});
  };
  EXPECT_EQ(law("broken").status, 1);
  EXPECT_EQ(law("held").status, 3);
  const Ran unknown = law("banana");
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("held, broken, not_run or not_applicable"));
  const std::string line =
      R"({"spec":"reservoir:sinks=1,recent=2,budget=8","uniform":true,"sentence":"even"})";
  EXPECT_TRUE(write_file(folder_ / "u.jsonl", line + "\n" + line));
  const Ran twice = decide(R"({"results": "IN/u.jsonl", "uniform": "reservoir"})");
  EXPECT_EQ(twice.status, 2);
  EXPECT_THAT(twice.err, HasSubstr("several lines"));
}

TEST_F(HypothesesCommand, OutputsDoNotReplaceResults) {
  replay(6, "a");
  const std::string before = test::read_text(folder_ / "a.db");
  const Ran ran = decide(of_mass + R"("of": "h2o:budget=16", "mean": {"above": 0}})",
                         {"--json", folder_ / "a.db"});
  EXPECT_EQ(ran.status, 2) << ran.out;
  EXPECT_TRUE(test::read_text(folder_ / "a.db") == before);
}

TEST_F(HypothesesCommand, WrongConditionsAreAnsweredInOneSentence) {
  replay(6, "a");
  const auto error_of = [&](const std::string& condition) {
    const Ran ran = decide(condition);
    EXPECT_EQ(ran.status, 2) << ran.out;
    EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
    return ran.err;
  };
  EXPECT_THAT(error_of(R"({"results": "IN/none.db", "measure": "loss", "of": "h2o",
                           "mean": {"above": 0}})"),
              AllOf(HasSubstr("none.db"), HasSubstr("conditions[0]")));
  EXPECT_THAT(error_of(of_mass + R"("of": "h2o", "mean": {"above": 0}})"),
              HasSubstr("expected one spec"));
  EXPECT_THAT(error_of(of_mass + R"("of": "tova", "mean": {"above": 0}})"),
              HasSubstr("of no spec"));
  EXPECT_THAT(error_of(R"({"results": "IN/a.db", "measure": "loss", "of": "h2o:budget=16",
                           "mean": {"above": 0}})"),
              HasSubstr("of no spec that was measured so"));
  const Ran none = test::run({"hypotheses", folder_ / "no.json"});
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.err, HasSubstr("no.json"));
}

}  // namespace
}  // namespace kv::cli
