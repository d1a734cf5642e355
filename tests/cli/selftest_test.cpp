// kvcheck selftest: statuses, forms of the kill matrix, figures.
#include <algorithm>
#include <boost/json.hpp>
#include <sstream>

#include "kvcheck/cli/evidence/selftest.h"
#include "kvcheck/tests/cli/run.h"

namespace kv::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// A mutant that is killed, one that no law can kill, and a right subject.
const std::vector<std::string> small = {"selftest", "--filter", "no-lower-bound-in-chunks",
                                        "--filter", "plain-streaming"};

std::vector<std::string> small_with(std::vector<std::string> more) {
  more.insert(more.begin(), small.begin(), small.end());
  return more;
}

TEST(SelftestCommand, PassesAndTellsWhichLawsKill) {
  const Ran ran = run(small);
  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("no-lower-bound-in-chunks  killed"));
  EXPECT_THAT(ran.out, HasSubstr("1 batteries of 1 right subjects, 0 accusations\npassed\n"));
  EXPECT_EQ(ran.err, "");
}

TEST(SelftestCommand, TriesCorrectSubjectsAloneWhereThatIsAsked) {
  const Ran ran = run({"selftest", "--correct-only", "--filter", "plain-streaming", "--runs", "2"});
  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("0 mutants, "));
  EXPECT_THAT(ran.out, HasSubstr("2 batteries of 1 right subjects, 0 accusations\npassed\n"));
  const Ran mutant = run({"selftest", "--correct-only", "--filter", "no-lower-bound-in-chunks"});
  EXPECT_EQ(mutant.status, 2) << "there are no mutants to name";
}

TEST(SelftestCommand, WritesJsonCsvAndMarkdown) {
  const TemporaryFolder folder;
  const Ran ran = run(small_with(
      {"--json", folder / "m.json", "--csv", folder / "m.csv", "--markdown", "-", "--runs", "2"}));
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, StartsWith("# The kill matrix\n"));
  EXPECT_THAT(ran.out, HasSubstr("| no-lower-bound-in-chunks | "));
  EXPECT_THAT(ran.out, HasSubstr("In 2 runs of 1 right subject, no law was broken"));
  const auto object = boost::json::parse(read_text(folder / "m.json")).as_object();
  EXPECT_EQ(object.at("right_batteries").as_int64(), 2);
  const std::string csv = read_text(folder / "m.csv");
  EXPECT_THAT(csv, StartsWith("mutant,law,cases\nno-lower-bound-in-chunks,"));
}

TEST(SelftestCommand, DrawsTheMatrix) {
  const TemporaryFolder folder;
  const Ran ran = run(small_with({"--plot", folder / "new/plots"}));
  ASSERT_EQ(ran.status, 0) << ran.err;
  const std::string svg = read_text(folder / "new/plots/kill-matrix.svg");
  EXPECT_THAT(svg, HasSubstr("no-lower-bound-in-chunks"));
  EXPECT_THAT(svg, HasSubstr("visible.from-stored"));
  EXPECT_THAT(read_text(folder / "new/plots/kill-matrix.png"), HasSubstr("PNG"));
  EXPECT_THAT(read_text(folder / "new/plots/kill-matrix.md"), HasSubstr("](kill-matrix.svg)"));
  EXPECT_THAT(read_text(folder / "new/plots/kill-matrix.csv"), StartsWith("mutant,law,cases\n"));
}

TEST(SelftestCommand, TheMutantOfItsHelpExists) {
  const std::string help = run({"selftest", "--help"}).out;
  const std::string arguments = "kvcheck selftest --filter ";
  const std::size_t at = help.find(arguments);
  ASSERT_NE(at, std::string::npos);
  const std::string rest = help.substr(at + arguments.size());
  const std::string name = rest.substr(0, rest.find('\n'));
  EXPECT_EQ(std::ranges::count(properties::mutants(), name, &properties::Mutant::name), 1) << name;
}

// Exit status 1: mutant is right is called a mutant and lives, mutant is wrong is called right.
TEST(SelftestCommand, FailsWhenAMutantLivesOrARightSubjectIsAccused) {
  const auto named = [](std::string_view name) {
    return *std::ranges::find(properties::mutants(), name, &properties::Mutant::name);
  };
  const auto right = *std::ranges::find(properties::right_subjects(), "plain-streaming",
                                        &properties::RightSubject::name);
  const std::vector<properties::Mutant> living = {
      {.name = "harmless", .wrong = "nothing", .source = "made", .family = [&](auto) {
         return right.make();
       }}};
  const std::vector<properties::RightSubject> wrong = {
      {.name = "harmful", .why = "nothing", .make = [&] {
         return named("no-lower-bound-in-chunks").make();
       }}};
  const auto outcome = [](properties::SelftestOptions options, const std::string& mutant,
                          std::string& text) {
    std::ostringstream out;
    std::ostringstream err;
    cli::Streams streams{out, err};
    const std::vector<std::string> arguments = {"--filter", mutant};
    const auto result = cli::selftest_of(std::move(options), arguments, streams);
    text = out.str();
    return result ? *result : cli::Outcome::done;
  };
  std::string text;
  properties::SelftestOptions options;
  options.mutants = living;
  options.right_subjects = {};
  EXPECT_EQ(outcome(options, "harmless", text), cli::Outcome::law_broken);
  EXPECT_THAT(text, HasSubstr("harmless  LIVES"));
  options.mutants = {};
  options.right_subjects = wrong;
  EXPECT_EQ(outcome(options, "harmful", text), cli::Outcome::law_broken);
  EXPECT_THAT(text, HasSubstr("harmful"));
}

TEST(SelftestCommand, RefusesWordsThatMakeNoSense) {
  const auto refused = [](const std::vector<std::string>& arguments, const std::string& why) {
    const Ran ran = run(arguments);
    EXPECT_EQ(ran.status, 2) << ran.out;
    EXPECT_THAT(ran.err, HasSubstr(why));
  };
  refused({"selftest", "something"}, "argument");
  refused({"selftest", "--filter", "plain-streming"}, "did you mean 'plain-streaming'?");
  refused({"selftest", "--runs", "0"}, "--runs");
  refused({"selftest", "--workers", "0"}, "--workers");
  refused({"selftest", "--json", "-", "--csv", "-"}, "--json and --csv both name standard output");
  refused({"selftest", "--json", "/nowhere/m.json"}, "/nowhere/m.json");
}

}  // namespace
}  // namespace kv::test
