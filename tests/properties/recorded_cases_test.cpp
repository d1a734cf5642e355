// What check records of its cases, judged as check judges the cache itself.
#include <boost/json.hpp>
#include <cstdlib>

#include "kvcheck/base/text/text.h"
#include "kvcheck/properties/battery/attempt.h"
#include "kvcheck/properties/battery/result_phrases.h"
#include "kvcheck/properties/mutants/mutants.h"
#include "kvcheck/properties/selftest/right_subjects.h"
#include "kvcheck/properties/subjects/spec_subject.h"
#include "kvcheck/properties/tagged/tagged_family.h"
#include "kvcheck/sim/spec/spec.h"
#include "kvcheck/tests/properties/faulty_family.h"
#include "kvcheck/tests/properties/recorded.h"

namespace kv::properties {
namespace {

// Laws that judge the cases that all share.
std::vector<std::string> judging_laws() {
  std::vector<std::string> ids;
  for (const Law& law : laws()) {
    if (is_judge(law)) ids.emplace_back(law.id);
  }
  return ids;
}

std::string finding_of(const LawResult& result) {
  if (!result.finding) return {};
  return where_of(result) + ": " + result.finding->expected + "; " + result.finding->seen;
}

struct Agreement {
  std::size_t subjects = 0;
  std::size_t broken = 0;  // subjects
};

// Checks the subject, records the same cases, and judges the file: each law is broken in both or
// in none, by the same call.
void expect_agreement(Family& family, const BatteryOptions& options, Agreement& seen) {
  const auto checked = run_battery(family, options);
  if (!checked) return;  // the contract contradicts itself
  const std::string lines = recorded(family, options.cases);
  const auto judged =
      judge_file(lines, "cases.jsonl", {.filter = options.filter, .explain = false});
  ASSERT_TRUE(judged.has_value()) << judged.error().message;
  for (const LawResult& one : checked->laws) {
    const LawResult* other = result_of(*judged, one.law->id);
    ASSERT_NE(other, nullptr) << one.law->id;
    EXPECT_EQ(other->status == Status::broken, one.status == Status::broken) << one.law->id;
    // Where a cache failed, the file does not say which call it had been given.
    if (one.law->id == "survives") continue;
    EXPECT_EQ(finding_of(*other), finding_of(one)) << one.law->id;
  }
  ++seen.subjects;
  seen.broken += checked->count(Status::broken) > 0 ? 1U : 0U;
}

// As many as every run of the tests has the time for, or as KVCHECK_CASES says: the quick level has
// 300.
std::uint32_t cases_tried() {
  const char* const given = std::getenv("KVCHECK_CASES");
  return given == nullptr ? 6 : static_cast<std::uint32_t>(std::stoul(given));
}

TEST(RecordedHistory, IsJudgedAsCheckJudgesTheCache) {
  BatteryOptions options;
  options.cases = cases_tried();
  options.shrink = false;
  options.filter = judging_laws();
  Agreement seen;
  for (const Mutant& mutant : mutants()) {
    SCOPED_TRACE(mutant.name);
    // No program or file can declare such a contract.
    if (mutant.name == "misdeclares-attended_page") continue;
    expect_agreement(*mutant.make(), options, seen);
  }
  EXPECT_GT(seen.subjects, 250U);
  EXPECT_GT(seen.broken, 140U);
  RecordProperty("subjects", static_cast<int>(seen.subjects));
  RecordProperty("broken", static_cast<int>(seen.broken));
}

// The lines with each object changed.
template <typename Change>
std::string changed(const std::string& lines, const Change& change) {
  std::string text;
  for (const std::string_view line : split(lines, '\n')) {
    if (line.empty()) continue;
    boost::json::value value = boost::json::parse(line);
    change(value.as_object());
    text += boost::json::serialize(value) + "\n";
  }
  return text;
}

TEST(RecordedHistory, AccusesNoRightCacheForWhatTheFileLeavesOut) {
  for (const RightSubject& subject : right_subjects()) {
    const auto family = subject.make();
    const std::string lines = changed(recorded(*family, 6), [](boost::json::object& line) {
      line.erase("stream");
      if (!line.contains("units")) return;
      for (boost::json::value& unit : line.at("units").as_array()) {
        for (const char* field : {"returned", "visible", "weights", "query_positions",
                                  "key_positions", "page_bounds", "listed"}) {
          unit.as_object().erase(field);
        }
      }
    });
    if (lines.empty()) continue;
    const auto report = judged(lines);
    ASSERT_TRUE(report.has_value()) << subject.name << report.error().message;
    EXPECT_EQ(report->count(Status::broken), 0U) << subject.name;
  }
}

TEST(RecordedHistory, RunsInWhichTheCacheFailedAreCounted) {
  for (const Fault fault : {Fault::none, Fault::throws, Fault::dies}) {
    const auto family = make_faulty(fault);
    RecordedCases count;
    const std::string lines = recorded(*family, 12, &count);
    EXPECT_GE(count.recorded, 1U);
    std::uint64_t failures = 0;
    for (std::size_t at = 0; (at = lines.find("{\"failure\":", at)) != std::string::npos; ++at) {
      ++failures;
    }
    EXPECT_EQ(count.failed, failures);
    EXPECT_EQ(failures == 0, fault == Fault::none);
  }
}

TEST(RecordedHistory, AReferenceDecidesByTheWeightsOfTheFile) {
  TaggedFamily<TaggedCache> family("mine", {.policy = "h2o"});
  const std::string own = recorded(family, 12);
  const auto as_real = [](boost::json::object& line) { line.erase("stream"); };
  const auto h2o = judged(changed(own, as_real));
  EXPECT_EQ(result_of(*h2o, "reference.model")->status, Status::held)
      << result_of(*h2o, "reference.model")->why;
  const auto as_tova = [&](boost::json::object& line) {
    as_real(line);
    if (!line.contains("contract")) return;
    boost::json::string& spec = line.at("contract").at("reference").as_string();
    const std::string own_options = ",form=real-drop,normalise=none";
    spec.replace(0, std::string("h2o").size(), "tova");
    spec.erase(spec.find(own_options), own_options.size());
  };
  const auto tova = judged(changed(own, as_tova));
  ASSERT_TRUE(tova.has_value()) << tova.error().message;
  EXPECT_EQ(result_of(*tova, "reference.model")->status, Status::broken)
      << result_of(*tova, "reference.model")->why;
  const auto without = judged(changed(own, [&](boost::json::object& line) {
    as_real(line);
    if (!line.contains("units")) return;
    for (boost::json::value& unit : line.at("units").as_array()) unit.as_object().erase("weights");
  }));
  EXPECT_THAT(result_of(*without, "reference.model")->why,
              testing::HasSubstr("no weights are reported"));
}

TEST(RecordedHistory, AReferenceThatDrawsNeedsOurDraws) {
  const auto family = make_spec_family(*parse_spec("reservoir:sinks=1,recent=2,budget=6"));
  const std::string own = recorded(*family, 12);
  EXPECT_EQ(result_of(*judged(own), "reference.model")->status, Status::held);
  const auto other = [](boost::json::object& line) {
    if (line.contains("setup")) line.at("setup").at("seed") = 99;
  };
  EXPECT_EQ(result_of(*judged(changed(own, other)), "reference.model")->status, Status::broken);
  const auto without = [](boost::json::object& line) { line.erase("draws"); };
  EXPECT_EQ(result_of(*judged(changed(own, without)), "reference.model")->status,
            Status::not_applicable);
}

}  // namespace
}  // namespace kv::properties
