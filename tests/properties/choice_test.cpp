// Queries that choose pages: what the subject does, what the contract says, and the laws of
// properties/laws/histories/choice_laws.cpp.
#include <algorithm>
#include <map>

#include "kvcheck/properties/mutants/mutants.h"
#include "kvcheck/properties/selftest/right_subjects.h"
#include "kvcheck/properties/subjects/spec_subject.h"
#include "kvcheck/sim/spec/spec.h"
#include "kvcheck/tests/properties/accuse.h"

namespace kv::properties {
namespace {

using testing::Contains;
using testing::HasSubstr;

std::unique_ptr<Family> quest() {
  return make_spec_family(parse_spec("@quest").value());
}

std::vector<std::uint32_t> seen_by(const UnitFacts& unit, std::size_t query) {
  std::vector<std::uint32_t> seen;
  for (std::size_t r = 0; r < unit.returned.size(); ++r) {
    if (unit.visible[query * unit.mask_width + r] == 0) continue;
    seen.push_back(static_cast<std::uint32_t>(unit.returned[r].value.position));
  }
  return seen;
}

TEST(Choice, TakesItsSizesFromTheSetup) {
  const auto contract = quest()->contract({.layers = 3, .recent = 4, .budget = 11}).value();
  EXPECT_EQ(contract.top_pages, (TopPages{8, 4, 2}));
  EXPECT_EQ(contract.unit, Unit::head);
  EXPECT_EQ(contract.budget, 0U);
  EXPECT_TRUE(contract.selects_in(2));
  EXPECT_FALSE(contract.selects_in(1));
  // The last layer selects pages, however few layers there are; a page is no larger than before.
  EXPECT_EQ(quest()->contract({.layers = 1, .recent = 99, .budget = 40}).value().top_pages,
            (TopPages{32, 16, 0}));
  EXPECT_EQ(quest()->contract({.recent = 0, .budget = 0}).value().top_pages, (TopPages{1, 1, 0}));
  EXPECT_EQ(quest()->contract(quest()->requested()).value().top_pages, (TopPages{64, 16, 2}));
  EXPECT_THAT(deviations(contract), Contains(HasSubstr("at most, in whole pages of 4")));
}

// Two query heads of one kv-head, one dense layer before the one that selects pages.
TEST(Choice, IsEachHeadsOwnAndEvictsNothing) {
  const auto what = parse_case("recent=2,budget=4,layers=2,group=2;stream=random;calls=f9,f1,f1");
  ASSERT_TRUE(what) << what.error().message;
  const auto family = make_spec_family(parse_spec("dense;visibility=top-pages:32/16/1").value());
  const auto history = run_case(*family, *what);
  ASSERT_TRUE(history);
  EXPECT_EQ(history->failure, "");
  bool differ = false;
  for (const Event& event : history->events) {
    ASSERT_EQ(event.facts.units.size(), 4U);
    for (std::size_t query = 0; query < event.fed.size(); ++query) {
      const auto now = static_cast<std::size_t>(event.fed[query].position);
      EXPECT_EQ(seen_by(event.facts.units[0], query).size(), now + 1);
      for (const std::size_t unit : {2U, 3U}) {
        EXPECT_EQ(seen_by(event.facts.units[unit], query).size(), now < 4 ? now + 1 : 3 + now % 2);
        EXPECT_EQ(event.facts.units[unit].stored.size(), event.branch.size());
      }
      differ |= seen_by(event.facts.units[2], query) != seen_by(event.facts.units[3], query);
    }
  }
  EXPECT_TRUE(differ);
}

// What the law says of the first of some cases in which it finds something; "" if it finds nothing.
std::string found(const Law& law, Family& family, int seeds = 24) {
  for (int seed = 0; seed < seeds; ++seed) {
    const std::string kind = seed % 4 == 3 ? "ties" : "random";
    const auto what = parse_case("recent=" + std::to_string(1 + seed % 3) +
                                 ",budget=6,layers=2,kv-heads=2,group=2;stream=" + kind +
                                 ",seed=" + std::to_string(seed) + ";calls=f5,f1,f4,f1,f3");
    EXPECT_TRUE(what) << what.error().message;
    const std::string words = judge_case(law, family, *what);
    if (is_finding(words)) return words;
  }
  return "";
}

// Every mutant is found by the law that is about what is wrong with it.
TEST(Choice, LawsFindTheirMutants) {
  const std::map<std::string_view, std::string_view> expected = {
      {"page-bound-of-least-only", "choice.bounds"},
      {"page-bound-max-of-sums", "choice.bounds"},
      {"page-bound-of-first-token", "choice.bounds"},
      {"own-page-ranked-like-others", "choice.own-page"},
      {"one-page-too-many", "choice.attended"},
      {"one-page-too-few", "choice.attended"},
      {"pages-chosen-by-first-head", "reference.model"},
      {"pages-chosen-once-a-call", "chunking.visible"},
      {"older-page-among-equals", "reference.model"},
      {"page-cut-at-the-bound", "choice.whole-pages"},
      {"no-layer-dense", "reference.dense"},
      {"unchosen-pages-freed", "size.full"}};
  std::size_t tried = 0;
  for (const Mutant& mutant : mutants()) {
    const auto law = expected.find(mutant.name);
    if (law == expected.end()) continue;
    ++tried;
    const auto family = mutant.make();
    EXPECT_NE(found(*find_law(law->second), *family), "") << mutant.name;
  }
  EXPECT_EQ(tried, expected.size());
}

// A contract that declares other units explains a finding by them. The rows are still those of the
// run: what choice.bounds says of them must not change, and no key may be read past its end.
TEST(Choice, BoundsAreJudgedByTheUnitsOfTheRun) {
  const auto what =
      parse_case("recent=2,budget=6,layers=2,kv-heads=2,group=2;stream=random;calls=f5,f1,f4,f3");
  const auto& judge = std::get<JudgeHistory>(find_law("choice.bounds")->check);
  std::size_t tried = 0;
  for (const Mutant& mutant : mutants()) {
    if (mutant.name != "pages-chosen-by-first-head" && mutant.name != "page-bound-of-least-only") {
      continue;
    }
    ++tried;
    const auto history = run_case(*mutant.make(), *what);
    ASSERT_TRUE(history);
    EXPECT_TRUE(std::holds_alternative<Finding>(judge(*history, history->contract))) << mutant.name;
    for (const Unit unit : {Unit::head, Unit::kv_head}) {
      Contract other = history->contract;
      other.unit = unit;
      EXPECT_TRUE(std::holds_alternative<Finding>(judge(*history, other))) << mutant.name;
    }
  }
  EXPECT_EQ(tried, 2U);
}

TEST(Choice, LawsFindNothingInRightSubjects) {
  std::size_t tried = 0;
  for (const RightSubject& subject : right_subjects()) {
    if (subject.name != "plain-choosing" && subject.name != "quest") continue;
    ++tried;
    const auto family = subject.make();
    for (const Law& law : laws()) {
      if (std::holds_alternative<Measure>(law.check)) continue;
      EXPECT_EQ(found(law, *family, 8), "") << subject.name << " " << law.id;
    }
  }
  EXPECT_EQ(tried, 2U);
}

}  // namespace
}  // namespace kv::properties
