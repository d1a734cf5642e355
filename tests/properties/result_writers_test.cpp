#include "kvcheck/properties/output/result_writers.h"

#include <algorithm>
#include <boost/json.hpp>
#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>
#include <map>
#include <sstream>

#include "kvcheck/base/text/text.h"
#include "kvcheck/properties/battery/result_phrases.h"
#include "kvcheck/properties/mutants/mutants.h"
#include "kvcheck/tests/properties/faulty_family.h"

namespace kv::properties {
namespace {

BatteryResult report_of(Fault fault) {
  const auto family = make_faulty(fault);
  BatteryOptions options;
  options.cases = 40;
  auto report = run_battery(*family, options);
  EXPECT_TRUE(report);
  return *std::move(report);
}

TEST(ReportWriters, TextShowsBrokenLawsFirst) {
  const BatteryResult report = report_of(Fault::blind);
  std::ostringstream out;
  write_text(report, "kvcheck check 'a subject'", out);
  const std::string text = out.str();
  EXPECT_THAT(text, testing::StartsWith("faulty\n"));
  for (const LawResult& result : report.laws) {
    EXPECT_THAT(text, testing::HasSubstr(std::string(result.law->id)));
    if (result.status != Status::broken) continue;
    EXPECT_THAT(text, testing::HasSubstr("BROKEN  " + std::string(result.law->id)));
    EXPECT_THAT(text, testing::HasSubstr("kvcheck check 'a subject' --reproduce '" +
                                         result.reproduce + "'"));
  }
  EXPECT_LT(text.find("BROKEN"), text.find(" held "));
  EXPECT_THAT(text, testing::HasSubstr("\nThe subject breaks its laws.\n"));
}

TEST(ReportWriters, TheShortTableListsWhatIsBrokenAndNotRun) {
  BatteryResult report = report_of(Fault::blind);
  report.laws.back().status = Status::not_run;
  report.laws.back().why = "no case showed it";
  std::ostringstream out;
  write_text(report, "s", out, 0, Listing::open_laws);
  std::ostringstream whole;
  write_text(report, "s", whole);
  const auto lines_of_laws = [&](const std::string& text) {
    std::string ids;
    for (const std::string_view line : split(text, '\n')) {
      for (const LawResult& result : report.laws) {
        if (line.starts_with(std::string(result.law->id) + " ")) {
          ids += std::string(name_of(result.status)) + "\n";
        }
      }
    }
    return ids;
  };
  std::string expected;
  for (const Status status :
       {Status::broken, Status::not_run, Status::held, Status::not_applicable}) {
    if (status == Status::held) {
      EXPECT_EQ(lines_of_laws(out.str()), expected);
    }
    for (std::size_t i = 0; i < report.count(status); ++i) {
      expected += std::string(name_of(status)) + "\n";
    }
  }
  EXPECT_EQ(lines_of_laws(whole.str()), expected);
}

TEST(ReportWriters, TheTableCutsNothing) {
  const BatteryResult report = report_of(Fault::none);
  std::ostringstream plain;
  write_text(report, "a-subject", plain);
  std::ostringstream narrow;
  write_text(report, "a-subject", narrow, 80);
  std::string joined = narrow.str();
  for (std::size_t at = 0; (at = joined.find("\n  ", at)) != std::string::npos;) {
    joined.replace(at, joined.find_first_not_of(' ', at + 1) - at, " ");
  }
  for (const LawResult& result : report.laws) {
    if (result.status != Status::held || result.measured) continue;
    const std::string sentence(result.law->sentence);
    EXPECT_THAT(plain.str(), testing::HasSubstr("  " + sentence + "\n"));
    EXPECT_THAT(joined, testing::HasSubstr(" " + sentence + "\n"));
  }
  const std::string table = narrow.str().substr(narrow.str().find("\nsurvives"));
  for (const std::string_view line : split(table, '\n')) EXPECT_LE(line.size(), 80U) << line;
}

// But for the line that is copied as a whole, and words that are longer, such as whole specs.
TEST(ReportWriters, ATextForATerminalIsAsWideAsItIs) {
  for (const Fault fault : {Fault::none, Fault::blind}) {
    std::ostringstream out;
    write_text(report_of(fault), "a-subject", out, 80);
    for (const std::string_view line : split(out.str(), '\n')) {
      const std::string_view words =
          line.substr(std::min(line.find_first_not_of(' '), line.size()));
      if (line.starts_with("    again ") || words.find(' ') == words.npos) continue;
      EXPECT_LE(line.size(), 80U) << line;
    }
  }
}

TEST(ReportWriters, JsonHoldsEveryLaw) {
  const BatteryResult report = report_of(Fault::blind);
  std::ostringstream out;
  write_json(report, out);
  const auto object = boost::json::parse(out.str()).as_object();
  EXPECT_FALSE(object.at("holds").as_bool());
  const auto& laws = object.at("laws").as_array();
  ASSERT_EQ(laws.size(), report.laws.size());
  for (std::size_t i = 0; i < laws.size(); ++i) {
    const auto& law = laws[i].as_object();
    EXPECT_EQ(law.at("law").as_string(), report.laws[i].law->id);
    if (report.laws[i].status != Status::broken) continue;
    EXPECT_EQ(law.at("status").as_string(), "broken");
    EXPECT_FALSE(law.at("reproduce").as_string().empty());
  }
}

TEST(ReportWriters, JunitIsWellFormedAndEscaped) {
  BatteryResult report = report_of(Fault::blind);
  report.subject = "a<b>&\"c\"\x01";
  for (LawResult& result : report.laws) {
    if (result.finding) result.finding->seen = "1 < 2 && \"x\"\n\x1b";
  }
  std::ostringstream out;
  write_junit(report, "s", 1.25, out);
  std::istringstream in(out.str());
  boost::property_tree::ptree tree;
  ASSERT_NO_THROW(boost::property_tree::read_xml(in, tree));
  const auto& suite = tree.get_child("testsuites.testsuite");
  EXPECT_EQ(suite.get<std::string>("<xmlattr>.name"), "kvcheck a<b>&\"c\"?");
  EXPECT_EQ(suite.get<std::size_t>("<xmlattr>.failures"), report.count(Status::broken));
  EXPECT_EQ(suite.count("testcase"), report.laws.size());
  std::size_t failures = 0;
  for (const auto& [name, child] : suite) {
    if (name != "testcase" || child.count("failure") == 0) continue;
    ++failures;
    EXPECT_THAT(child.get<std::string>("failure.<xmlattr>.message"),
                testing::StartsWith("1 < 2 && \"x\""));
  }
  EXPECT_EQ(failures, report.count(Status::broken));
}

// What junit-10.xsd of Jenkins' xUnit plug-in (github.com/jenkinsci/xunit-plugin) says of one kind
// of element: the attributes that it must and may have, and the elements that it may contain.
struct ElementRule {
  std::vector<std::string> required;
  std::vector<std::string> optional;
  std::vector<std::string> children;
};

const std::map<std::string, ElementRule>& jenkins_rules() {
  static const std::map<std::string, ElementRule> rules = {
      {"testsuites", {{}, {"name", "time", "tests", "failures", "errors"}, {"testsuite"}}},
      {"testsuite",
       {{"name", "tests", "failures", "errors"},
        {"group", "time", "skipped", "timestamp", "hostname", "id", "package", "file", "log",
         "url"},
        {"testsuite", "properties", "testcase", "system-out", "system-err"}}},
      {"testcase",
       {{"name"},
        {"time", "classname", "group"},
        {"skipped", "error", "failure", "rerunFailure", "rerunError", "flakyFailure", "flakyError",
         "system-out", "system-err"}}},
      {"failure", {{}, {"type", "message"}, {}}},
      {"error", {{}, {"type", "message"}, {}}},
      {"skipped", {{}, {"type", "message"}, {}}}};
  return rules;
}

bool lists(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

void expect_valid(const std::string& name, const boost::property_tree::ptree& element) {
  const auto rule = jenkins_rules().find(name);
  ASSERT_NE(rule, jenkins_rules().end()) << name;
  const auto attributes = element.get_child("<xmlattr>", {});
  for (const std::string& required : rule->second.required) {
    EXPECT_EQ(attributes.count(required), 1U) << name << " without " << required;
  }
  for (const auto& [attribute, value] : attributes) {
    EXPECT_TRUE(lists(rule->second.required, attribute) || lists(rule->second.optional, attribute))
        << name << " may not have " << attribute;
    // SUREFIRE_TIME, without its separators of thousands.
    if (attribute == "time") {
      EXPECT_THAT(value.data(), testing::MatchesRegex("[0-9]+\\.[0-9]+"));
    }
  }
  for (const auto& [child, below] : element) {
    if (child.starts_with("<xml")) continue;
    EXPECT_TRUE(lists(rule->second.children, child)) << child << " in " << name;
    expect_valid(child, below);
  }
}

TEST(ReportWriters, JunitIsValidByTheSchemaOfJenkins) {
  for (const Fault fault : {Fault::none, Fault::blind}) {
    std::ostringstream out;
    BatteryResult report = report_of(fault);
    report.interrupted = fault == Fault::none;  // what ended early is no pass
    write_junit(report, "s", 12.0625, out);
    std::istringstream in(out.str());
    boost::property_tree::ptree tree;
    boost::property_tree::read_xml(in, tree);
    ASSERT_EQ(tree.size(), 1U);
    expect_valid(tree.front().first, tree.front().second);
    EXPECT_EQ(tree.get<std::string>("testsuites.testsuite.<xmlattr>.time"), "12.062");
    EXPECT_EQ(tree.get<int>("testsuites.testsuite.<xmlattr>.errors"), report.interrupted ? 1 : 0);
  }
}

// What a subject says is shown, and neither obeyed nor let out of its column.
TEST(ReportWriters, ForeignTextIsShownAndNotObeyed) {
  BatteryResult report = report_of(Fault::blind);
  report.subject = "na\x1b[31mme\nBROKEN  nothing";
  for (LawResult& result : report.laws) {
    if (result.finding) result.finding->seen = "red \x1b[2J\nthe answer was: \x07\xff";
    if (result.status == Status::not_applicable) result.why = "one\nmore\r";
  }
  std::ostringstream out;
  write_text(report, "s", out);
  const std::string text = out.str();
  EXPECT_THAT(text, testing::StartsWith("na\\x1b[31mme BROKEN  nothing\n"));
  EXPECT_THAT(text, testing::HasSubstr("    seen      red \\x1b[2J\n"
                                       "              the answer was: \\x07\\xff\n"));
  EXPECT_THAT(text, testing::HasSubstr("one more\\x0d\n"));
  for (const char c : text) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
  std::ostringstream json;
  write_json(report, json);
  for (const char c : json.str()) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
}

TEST(ReportWriters, ARunThatTheLawMadeOfTheCaseIsReported) {
  const auto mutant = std::ranges::find(mutants(), "score-deleted-one-before", &Mutant::name);
  const auto family = mutant->make();
  BatteryOptions options;
  options.filter = {"attention.stale-scores"};
  const auto report = run_battery(*family, options);
  ASSERT_TRUE(report);
  const LawResult& result = report->laws.front();
  ASSERT_EQ(result.status, Status::broken);
  ASSERT_NE(result.history->what, *result.smallest);
  std::ostringstream text;
  write_text(*report, "a-subject", text);
  EXPECT_THAT(text.str(), testing::HasSubstr("\n    shown is  what the law makes of this: sinks "));
  EXPECT_THAT(run_of(result), testing::HasSubstr(words_of(result.history->what.calls)));
  std::ostringstream json;
  write_json(*report, json);
  EXPECT_THAT(json.str(), testing::HasSubstr("\"shown_is\":\"" + run_of(result) + "\""));
  std::ostringstream junit;
  write_junit(*report, "a-subject", 0, junit);
  EXPECT_THAT(junit.str(), testing::HasSubstr("shown is: " + run_of(result)));
}

TEST(ReportWriters, AFailureOfTheSubjectIsReportedOnce) {
  const BatteryResult report = report_of(Fault::throws);
  ASSERT_GT(report.count(Status::broken), 1U);
  std::ostringstream out;
  write_text(report, "a-subject", out);
  const std::string text = out.str();
  EXPECT_THAT(text, testing::HasSubstr("BROKEN  survives\n"));
  EXPECT_THAT(text, testing::HasSubstr("BROKEN  by the same, "));
  EXPECT_EQ(text.find("the subject failed: "), std::string::npos) << text;
  for (const LawResult& result : report.laws) {
    if (result.status != Status::broken) continue;
    EXPECT_THAT(text, testing::HasSubstr(std::string(result.law->id)));
  }
}

TEST(ReportWriters, SizesAreWrittenInWords) {
  EXPECT_EQ(words_of(kv::properties::Setup{
                .kv_heads = 2, .group = 2, .sinks = 1, .recent = 2, .budget = 5}),
            "sinks 1, recent 2, budget 5, 2 kv-heads, 2 query heads per kv-head");
}

TEST(ReportWriters, AReportWithoutLawsSaysNothingOfTheSubject) {
  BatteryResult report;
  report.subject = "a-subject";
  std::ostringstream out;
  write_text(report, "a-subject", out);
  EXPECT_FALSE(report.holds());
  EXPECT_THAT(out.str(), testing::HasSubstr("No law was tried"));
}

}  // namespace
}  // namespace kv::properties
