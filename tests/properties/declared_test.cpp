// Every word of a contract is held to: for each field and each claim there is a cache that is right
// but for that word, and the battery finds it (kvcheck selftest, which kills every mutant).
#include <boost/json/parse.hpp>
#include <set>

#include "kvcheck/policies/claims.h"
#include "kvcheck/properties/battery/battery.h"
#include "kvcheck/properties/mutants/mutants.h"
#include "kvcheck/properties/remote/contract_json.h"

namespace kv::properties {
namespace {

std::set<std::string> names_of_mutants() {
  std::set<std::string> names;
  for (const Mutant& mutant : mutants()) names.emplace(mutant.name);
  return names;
}

const Mutant& mutant_named(std::string_view name) {
  return *std::ranges::find(mutants(), name, &Mutant::name);
}

// Field by field as contracts are written: a new one without a mutant fails here.
TEST(Declared, EveryFieldOfAContractHasAMutantThatBreaksIt) {
  const std::set<std::string> names = names_of_mutants();
  const boost::json::value json = boost::json::parse(contract_json({}));
  std::size_t fields = 0;
  for (const auto& field : json.as_object()) {
    const std::string key = field.key();
    if (key == "name" || key == "claims") continue;  // words for people; the test below
    EXPECT_TRUE(names.contains("misdeclares-" + key)) << key;
    ++fields;
  }
  EXPECT_GE(fields, 36U);
}

TEST(Declared, EveryClaimHasAMutantThatBreaksIt) {
  const std::set<std::string> names = names_of_mutants();
  for (const Claim& claim : known_claims()) {
    EXPECT_TRUE(names.contains("misclaims-" + std::string(claim.name))) << claim.name;
  }
}

// The laws that exist for one word break by the mutant of that word.
TEST(Declared, WordsWithALawOfTheirOwnBreakIt) {
  for (const auto& [mutant, law] :
       {std::pair{"misclaims-constant-size", "size.constant"},
        std::pair{"misclaims-deterministic", "isolation.certain"},
        std::pair{"misdeclares-random", "isolation.certain"},
        std::pair{"misclaims-score-driven", "attention.decides"},
        std::pair{"misdeclares-wants_attention", "attention.decides"}}) {
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
      BatteryOptions options;
      options.effort.seed = seed;
      options.filter = {law};
      options.shrink = false;
      const auto report = run_battery(*mutant_named(mutant).make(), options);
      ASSERT_TRUE(report) << report.error().message;
      EXPECT_EQ(report->count(Status::broken), 1U) << mutant << " " << law << " seed " << seed;
    }
  }
}

}  // namespace
}  // namespace kv::properties
