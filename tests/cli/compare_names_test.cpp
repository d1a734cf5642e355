// The names in tables of kvcheck compare, and which names the commands take.
#include <algorithm>
#include <set>

#include "kvcheck/base/text/text.h"
#include "kvcheck/tests/cli/run.h"

namespace kv {
namespace {

using test::Ran;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::UnorderedElementsAre;

// Replays of two streams whose prompt is known, under specs whose names are easily confused.
class CompareNames : public testing::Test {
 protected:
  CompareNames() {
    std::vector<std::string> words = {"replay", "synthetic:zipf:tokens=120,heads=2,seed=1",
                                      "synthetic:zipf:tokens=120,heads=2,seed=2"};
    for (const char* const spec :
         {"@snapkv-prompt", "@snapkv-prompt;chunk=16",
          "snapkv:recent=8,window=8,kernel=1,ratio=0.5;unit=head;compress=question",
          "snapkv:recent=8,window=8,kernel=1,ratio=0.5;unit=head;compress=prompt",
          "streaming:budget=24", "streaming:budget=24;timing=lazy:8", "@pythia-lazy:budget=24",
          "h2o:sinks=2,budget=24", "h2o:sinks=2,budget=24;timing=lazy:8",
          "tova:budget=24;unit=layer"}) {
      words.insert(words.end(), {"--policy", spec});
    }
    words.insert(words.end(), {"--prompt", "80", "--question", "8", "--quiet", "-o", file_});
    const Ran ran = test::run(words);
    EXPECT_EQ(ran.status, 0) << ran.err;
  }

  [[nodiscard]] Ran compare(const std::vector<std::string>& words) const {
    std::vector<std::string> all = {"compare", file_, "--measure", "retained_mass"};
    all.insert(all.end(), words.begin(), words.end());
    return test::run(all);
  }

  // The names in a table of means of the policies that `word` means, or of all.
  [[nodiscard]] std::vector<std::string> names(const std::string& word = "") const {
    std::vector<std::string> words = {"--means", "--csv", "-"};
    if (!word.empty()) words.insert(words.end(), {"--policies", word});
    const Ran ran = compare(words);
    EXPECT_EQ(ran.status, 0) << ran.err;
    return first_fields(ran.out);
  }

  // No name here has a comma that would be quoted but those of several fields.
  static std::vector<std::string> first_fields(const std::string& csv) {
    std::vector<std::string> fields;
    for (const std::string_view line : split(csv, '\n')) {
      if (line.empty()) continue;
      const bool quoted = line.front() == '"';
      const std::size_t end = quoted ? line.find('"', 1) : line.find(',');
      fields.emplace_back(line.substr(quoted ? 1 : 0, end - (quoted ? 1 : 0)));
    }
    fields.erase(fields.begin());  // the header
    return fields;
  }

  test::TemporaryFolder folder_;
  std::string file_ = folder_ / "run.db";
};

TEST_F(CompareNames, EveryNameOfATableMeansItsRowInEveryCommand) {
  const std::vector<std::string> all = names();
  ASSERT_THAT(all,
              UnorderedElementsAre("@snapkv-prompt", "@snapkv-prompt chunk=16",
                                   "@snapkv-prompt:recent=8,window=8,kernel=1",
                                   "snapkv:recent=8,window=8,kernel=1 unit=head compress=prompt",
                                   "streaming", "streaming lazy:8", "@pythia-lazy", "h2o:sinks=2",
                                   "h2o:sinks=2 lazy:8", "@tova"));
  for (const std::string& name : all) {
    EXPECT_THAT(names(name), ElementsAre(name));
    const Ran against = compare({"--against", name, "--csv", "-"});
    EXPECT_EQ(against.status, 0) << against.err;
    EXPECT_THAT(against.out, HasSubstr(name));
    const Ran plot = test::run(
        {"plot", "trace-1/stream", file_, "--policies", name, "-o", folder_ / "x.svg", "--script"});
    EXPECT_EQ(plot.status, 0) << name << ": " << plot.err;
    const std::vector<std::string> drawn = first_fields(test::read_text(folder_ / "x.csv"));
    EXPECT_EQ(std::set<std::string>(drawn.begin(), drawn.end()).size(), 1U) << name;
  }
}

// The column `against` adds the budget where it is another one.
TEST_F(CompareNames, TheOtherSpecIsNamedAsItIsShown) {
  EXPECT_THAT(compare({"--against", "@tova"}).out, HasSubstr("@tova at 24"));
  EXPECT_EQ(compare({"--against", "@tova at 24"}).out, compare({"--against", "@tova"}).out);
}

TEST_F(CompareNames, ReplayPrintsTheSameNames) {
  const Ran ran = test::run({"replay", "synthetic:zipf:tokens=60,heads=2", "--policy",
                             "tova:budget=24;unit=layer", "--policy", "h2o:sinks=2,budget=24",
                             "--policy", "h2o:sinks=2,budget=24;timing=lazy:8", "--quiet"});
  EXPECT_THAT(ran.out, HasSubstr("@tova"));
  EXPECT_THAT(ran.out, HasSubstr("h2o:sinks=2 lazy:8"));
}

TEST_F(CompareNames, AnUnknownNameBesideAKnownOneIsAnError) {
  const auto error_of = [](const Ran& ran) {
    EXPECT_EQ(ran.status, 2);
    EXPECT_THAT(ran.out, IsEmpty());
    EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
    return ran.err;
  };
  const std::vector<std::string> two = {"--policies", "streaming", "--policies", "streeming"};
  EXPECT_THAT(error_of(compare(two)),
              HasSubstr("--policies names 'streeming', which no run has; did you mean "
                        "'streaming'?"));
  EXPECT_THAT(error_of(compare({"--against", "streaming lazy:9"})),
              HasSubstr("--against names 'streaming lazy:9', which no run has; did you mean "
                        "'streaming lazy:8'?"));
  EXPECT_THAT(error_of(test::run({"compare", file_, file_, "--policies", "@tofa"})),
              HasSubstr("--policies names '@tofa', which neither file has; did you mean '@tova'?"));
  EXPECT_THAT(error_of(test::run({"plot", "trace-1/stream", file_, "--policies", "streaming",
                                  "--policies", "@tofa", "-o", folder_ / "x.svg"})),
              HasSubstr("--policies names '@tofa', which no run has; did you mean '@tova'?"));
  EXPECT_THAT(error_of(compare({"--policies", "streaming", "--against", "@tova"})),
              HasSubstr("--against names '@tova', which --policies leaves out"));
}

TEST_F(CompareNames, ANameOfTwoSpecsOfOneBudgetIsNoReference) {
  const std::string file = folder_ / "two.db";
  const Ran replayed = test::run({"replay", "synthetic:zipf:tokens=64", "--quiet", "-o", file,
                                  "--policy", "h2o:budget=16;unit=model", "--policy",
                                  "h2o:budget=16;unit=layer", "--policy", "window:budget=16"});
  ASSERT_EQ(replayed.status, 0) << replayed.err;
  const Ran ran = test::run({"compare", file, "--against", "h2o"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, HasSubstr("--against stands for several specs of one budget: h2o unit=model "
                                 "and h2o unit=layer; expected one of them"));
  EXPECT_EQ(test::run({"compare", file, "--against", "h2o:budget=16;unit=layer"}).status, 0);
}

TEST_F(CompareNames, MeasuresThatTheFileLacksAreSaidOnce) {
  const Ran means = compare({"--measure", "loss", "--measure", "exact", "--means"});
  EXPECT_EQ(means.status, 0);
  EXPECT_EQ(means.err, "Note: " + file_ + " has no value of loss, exact.\n");
  const Ran tests = compare({"--measure", "loss", "--csv", "-"});
  EXPECT_EQ(tests.status, 0);
  EXPECT_EQ(tests.err, "Note: " + file_ + " has no two specs to compare in loss.\n");
  // Those were not asked for.
  EXPECT_THAT(test::run({"compare", file_, "--means"}).err, IsEmpty());
  EXPECT_THAT(test::run({"compare", file_, "--against", "streaming"}).err, IsEmpty());
}

TEST(CompareHelp, SaysHowPValuesAreCorrected) {
  const std::string help = test::run({"compare", "--help"}).out;
  EXPECT_THAT(help, HasSubstr("signs (Westfall and Young), of equality by Holm's method"));
  EXPECT_THAT(help, Not(HasSubstr("(Holm)")));
}

}  // namespace
}  // namespace kv
