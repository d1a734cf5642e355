#include "kvcheck/policies/registry/registry.h"

#include <algorithm>
#include <set>

#include "kvcheck/policies/policy.h"
#include "kvcheck/tests/policies/every_policy.h"

namespace kv {
namespace {

// A policy of one's own takes a line in the registry and none here.
TEST(Registry, ListsEachPolicyOnceTheReferencesFirst) {
  std::vector<std::string_view> names;
  for (const PolicyEntry& entry : policy_registry()) {
    EXPECT_THAT(std::string(entry.name), testing::MatchesRegex("[a-z][a-z0-9]*(-[a-z0-9]+)*"));
    EXPECT_EQ(find_policy(entry.name), &entry) << "two are named " << entry.name;
    names.push_back(entry.name);
  }
  EXPECT_GE(names.size(), 24U);
  names.resize(3);
  EXPECT_THAT(names, testing::ElementsAre("dense", "window", "streaming"));
}

TEST(Registry, RefusesPoliciesThatCannotBe) {
  const std::size_t before = policy_registry().size();
  const auto refusal = [](const std::vector<std::string_view>& names, bool made) {
    std::vector<PolicyEntry> more;
    for (const std::string_view name : names) {
      more.push_back(*find_policy("window"));
      more.back().name = name;
      if (!made) more.back().make = nullptr;
    }
    return register_policies(more).error().message;
  };
  EXPECT_THAT(refusal({"mine", "h2o"}, true), testing::HasSubstr("a policy 'h2o' already"));
  EXPECT_THAT(refusal({"mine", "mine"}, true), testing::HasSubstr("a policy 'mine' already"));
  EXPECT_THAT(refusal({"Mine"}, true), testing::HasSubstr("'Mine' is not a policy"));
  EXPECT_THAT(refusal({""}, true), testing::HasSubstr("expected a maker, and a name"));
  EXPECT_THAT(refusal({"mine"}, false), testing::HasSubstr("'mine' is not a policy"));
  PolicyEntry mine = *find_policy("window");
  mine.name = "mine";
  const auto error = [&] { return register_policies({&mine, 1}).error().message; };
  mine.make = [](const Options&) { return std::unique_ptr<Policy>(); };
  EXPECT_EQ(error(), "the maker of 'mine' returns no policy");
  mine.make = find_policy("window")->make;
  constexpr std::array<std::string_view, 1> misspelt = {"chunk-invarient"};
  mine.claims = misspelt;
  EXPECT_EQ(error(),
            "'mine' makes an unknown claim 'chunk-invarient'; did you mean 'chunk-invariant'?");
  mine.claims = {};
  mine.source = "";
  EXPECT_EQ(error(), "'mine' has an empty source");
  mine.source = "none";
  std::array<Parameter, 2> parameters = {{{.name = "budget", .default_value = "1", .meaning = ""},
                                          {.name = "size", .default_value = "3", .meaning = ""}}};
  mine.parameters = parameters;
  EXPECT_THAT(error(), testing::StartsWith("parameter 'budget' of 'mine' has an illegal name"));
  parameters[0].name = "size";
  EXPECT_THAT(error(), testing::StartsWith("parameter 'size' of 'mine' has an illegal name"));
  parameters[0] = {.name = "length", .default_value = "9", .meaning = "", .range = counts(1, 4)};
  EXPECT_THAT(error(), testing::HasSubstr("'length' of 'mine' has an illegal default: "));
  parameters[0] = {.name = "length", .default_value = "3.50", .meaning = "", .range = reals(1, 4)};
  EXPECT_THAT(error(), testing::HasSubstr("expected it as specs write it, '3.5'"));
  EXPECT_EQ(policy_registry().size(), before);
  EXPECT_EQ(find_policy("mine"), nullptr);
}

TEST(Registry, TellsSummarySourceDifferencesCostAndClaimsOfEach) {
  const std::set<std::string_view> words = {"constant-size", "chunk-invariant",  "uniform",
                                            "age-geometric", "admits-newcomers", "deterministic",
                                            "score-driven",  "ageing",           "pooled"};
  for (const PolicyEntry& entry : policy_registry()) {
    EXPECT_FALSE(entry.summary.empty()) << entry.name;
    EXPECT_THAT(std::string(entry.summary), testing::MatchesRegex("[A-Z][a-z]+s [^\n]*\\."));
    EXPECT_FALSE(entry.source.empty()) << entry.name;
    EXPECT_FALSE(entry.differs.empty()) << entry.name;
    EXPECT_FALSE(entry.cost.empty()) << entry.name;
    EXPECT_FALSE(entry.claims.empty()) << entry.name;
    for (const std::string_view claim : entry.claims) EXPECT_TRUE(words.contains(claim)) << claim;
  }
}

TEST(Registry, HasLegalDefaultsAndParametersThatNoCommonFieldHides) {
  for (const PolicyEntry& entry : policy_registry()) {
    EXPECT_LE(entry.protection.recent_percent, 100U) << entry.name;
    std::set<std::string_view> names = {"sinks",      "recent",    "budget", "timing",
                                        "visibility", "positions", "unit",   "chunk"};
    for (const Parameter& parameter : entry.parameters) {
      EXPECT_TRUE(names.insert(parameter.name).second) << parameter.name;
      const auto legal = legal_value(parameter, parameter.default_value);
      EXPECT_TRUE(legal && *legal == parameter.default_value) << entry.name << parameter.name;
      EXPECT_FALSE(parameter.meaning.empty()) << parameter.name;
    }
    EXPECT_NE(entry.make(Options(entry.parameters)), nullptr);
  }
}

// Claims that the policy's own answers must not contradict.
TEST(Registry, ClaimsWhatThePoliciesSayOfThemselves) {
  for (const PolicyChoice& choice : every_selecting_policy()) {
    const auto claims = [&](std::string_view word) {
      return std::ranges::count(choice.entry->claims, word) > 0;
    };
    const auto policy = choice.make();
    EXPECT_TRUE(policy->needs().attention || !claims("score-driven")) << choice.name;
    if (claims("chunk-invariant")) {
      EXPECT_EQ(policy->leaving(), Leaving::one_by_one) << choice.name;
      EXPECT_FALSE(policy->needs().attention) << choice.name;
    }
  }
}

TEST(Registry, FindsByNameOnly) {
  EXPECT_EQ(find_policy("reservoir")->name, "reservoir");
  EXPECT_EQ(find_policy("reservoi"), nullptr);
  EXPECT_EQ(find_policy(""), nullptr);
}

TEST(Options, StartWithDefaultsAndTakeLegalWordsOnly) {
  Options options(find_policy("reservoir")->parameters);
  EXPECT_EQ(options.at("algorithm"), "r");
  const Options usual = options;
  options.set("algorithm", "bottom-k");
  EXPECT_EQ(options.at("algorithm"), "bottom-k");
  EXPECT_NE(options, usual);
  EXPECT_DEATH(options.set("algorithm", "x"), "legal");
  EXPECT_DEATH(options.set("algorithms", "r"), "parameter");
  EXPECT_DEATH((void)options.at("algorithms"), "found");
}

TEST(Registry, EntriesNameSourceDifferencesAndCost) {
  ASSERT_FALSE(policy_registry().empty());
  for (const PolicyEntry& entry : policy_registry()) {
    EXPECT_NE(entry.source, "") << entry.name;
    EXPECT_NE(entry.differs, "") << entry.name;
    EXPECT_NE(entry.cost, "") << entry.name;
  }
}

}  // namespace
}  // namespace kv
