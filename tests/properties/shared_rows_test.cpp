// Layers that attend to the rows of others: what contracts say of them, and what laws then find.
#include <boost/json/parse.hpp>

#include "kvcheck/base/text/json_at.h"
#include "kvcheck/properties/battery/battery.h"
#include "kvcheck/properties/battery/contradiction.h"
#include "kvcheck/properties/mutants/mutants.h"
#include "kvcheck/properties/remote/contract_json.h"
#include "kvcheck/properties/selftest/right_subjects.h"
#include "kvcheck/properties/tagged/tagged_state.h"

namespace kv::properties {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// What is complained of a contract for four layers with that list.
std::vector<std::string> complaints_of(const std::string& list) {
  const boost::json::value value = boost::json::parse(R"({"rows_from": )" + list + "}");
  Complaints complaints = {.strict = true, .lines = {}};
  read_contract(JsonAt(value, "contract", complaints), {.layers = 4}, "");
  return complaints.lines;
}

TEST(SharedRows, NameAnEarlierLayerThatStoresRows) {
  EXPECT_THAT(complaints_of("[0,1,0,1]"), IsEmpty());
  EXPECT_THAT(complaints_of("[]"), IsEmpty());
  EXPECT_THAT(
      complaints_of("[0,0]"),
      ElementsAre(HasSubstr("rows_from holds 2 numbers; expected one for each of 4 layers")));
  EXPECT_THAT(complaints_of("[0,1,3,3]"),
              ElementsAre(HasSubstr("names layer 3 for layer 2, which comes later")));
  EXPECT_THAT(complaints_of("[0,0,1,3]"),
              ElementsAre(HasSubstr("names layer 1 for layer 2, which stores no rows itself; "
                                    "expected layer 0, whose rows it reads")));
  EXPECT_THAT(complaints_of("[0,1,2,4]"), ElementsAre(HasSubstr("the number of a layer")));
}

TEST(SharedRows, AreNotDeclaredWhereEachLayerNamesItself) {
  Contract contract;
  contract.set_rows_from({0, 1, 2});
  EXPECT_FALSE(contract.shares_rows());
  contract.set_rows_from({0, 0, 2});
  EXPECT_TRUE(contract.shares_rows());
  EXPECT_EQ(contract.owner_of(1), 0U);
  EXPECT_FALSE(contract.owns_rows(1));
  EXPECT_TRUE(contract.owns_rows(2));
  EXPECT_TRUE(contract.owns_rows(3)) << "layers beyond the list have their own";
}

TEST(SharedRows, ContradictBudgetsThatDifferAndQueriesThatSelect) {
  Contract contract;
  contract.set_rows_from({0, 1, 0});
  EXPECT_EQ(contradiction_in(contract), "");
  Contract selects = contract;
  selects.visibility = Visibility::top_pages;
  EXPECT_THAT(contradiction_in(selects), HasSubstr("rows-from and visibility=top-pages"));
  contract.set_budgets({8, 8, 4, 4, 8, 8});
  EXPECT_EQ(contradiction_in(contract), "");
  contract.set_budgets({8, 8, 4, 4, 8, 4});
  EXPECT_THAT(contradiction_in(contract), HasSubstr("one set of rows has one budget"));
  contract.rows_from = {0, 2, 2};
  EXPECT_THAT(contradiction_in(contract), HasSubstr("names layer 2 for layer 1"));
}

TEST(SharedRows, OfTaggedCachesAlternateBetweenTheLastTwoOwners) {
  EXPECT_THAT(owners_of(1), ElementsAre(0));
  EXPECT_THAT(owners_of(2), ElementsAre(0, 0));
  EXPECT_THAT(owners_of(3), ElementsAre(0, 1, 0));
  EXPECT_THAT(owners_of(6), ElementsAre(0, 1, 2, 1, 2, 1));
  for (std::uint32_t layers = 1; layers <= 16; ++layers) {
    EXPECT_EQ(wrong_owners(owners_of(layers)), "") << layers;
  }
}

// The laws that are broken, of those that find a cache's rows.
std::vector<std::string> broken_by(Family& family, std::uint64_t seed) {
  BatteryOptions options;
  options.effort.seed = seed;
  options.filter = {"size.*",    "rows.*",           "row.*",
                    "visible.*", "isolation.layers", "isolation.sharing"};
  options.shrink = false;
  const auto report = run_battery(family, options);
  EXPECT_TRUE(report);
  std::vector<std::string> broken;
  for (const LawResult& result : report->laws) {
    if (result.status == Status::broken) broken.emplace_back(result.law->id);
  }
  return broken;
}

template <typename All>
std::unique_ptr<Family> named(const All& all, std::string_view name) {
  return std::ranges::find_if(all, [&](const auto& each) { return each.name == name; })->make();
}

// Each of these caches is right in every layer by itself.
TEST(SharedRows, ThatAreCopiedOrAllocatedForAReaderAreFoundByTheirDeclarationAlone) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    EXPECT_THAT(broken_by(*named(mutants(), "borrowed-rows-trimmed-apart"), seed),
                ElementsAre("isolation.sharing"));
    EXPECT_THAT(broken_by(*named(mutants(), "memory-for-borrowed-rows"), seed),
                ElementsAre("size.bytes"));
    EXPECT_THAT(broken_by(*named(mutants(), "misdeclares-rows_from"), seed),
                ElementsAre("row.place"));
    EXPECT_THAT(broken_by(*named(mutants(), "reads-its-neighbours-rows"), seed),
                ::testing::Contains("row.place"));
    EXPECT_THAT(broken_by(*named(right_subjects(), "plain-borrowing"), seed), IsEmpty());
  }
}

}  // namespace
}  // namespace kv::properties
