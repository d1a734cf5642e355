// What contracts say of prompts, of a place made ahead and of each unit's budget: the numbers that
// follow, the cases that are made of it, and the laws that hold caches to it.
#include <algorithm>
#include <functional>
#include <set>
#include <sstream>

#include <boost/json/parse.hpp>

#include "kvcheck/properties/battery/battery.h"
#include "kvcheck/properties/cases/generate.h"
#include "kvcheck/properties/forwarding.h"
#include "kvcheck/properties/mutants/mutants.h"
#include "kvcheck/properties/output/result_writers.h"
#include "kvcheck/properties/remote/contract_json.h"
#include "kvcheck/properties/selftest/right_subjects.h"
#include "kvcheck/properties/tagged/tagged_family.h"

namespace kv::properties {
namespace {

using testing::HasSubstr;

TEST(Contract, AnEmptyCacheMayTakeMoreThanALaterCall) {
  Contract contract;
  contract.longest_chunk = 2;
  contract.first_chunk = 9;
  EXPECT_EQ(contract.longest_after(0), 9U);
  EXPECT_EQ(contract.longest_after(1), 2U);
  contract.first_chunk = any_depth;
  EXPECT_EQ(contract.longest_after(0), 0U);
  contract.first_chunk = 0;
  EXPECT_EQ(contract.longest_after(0), 2U);
}

TEST(Contract, APlaceMadeAheadIsOneRowLessBetweenCallsOnly) {
  Contract contract;
  contract.recent = 4;
  contract.budget = 8;
  contract.evicts_ahead = true;
  EXPECT_EQ(contract.most_stored(20, 3), 7U);
  EXPECT_EQ(contract.fewest_stored(20, 3), 7U);
  EXPECT_EQ(contract.fewest_stored(5, 3), 5U);
  EXPECT_EQ(contract.most_visible(7, 3, 0), 8U);
  EXPECT_EQ(contract.recent_stored(), 3U);
  contract.visibility = Visibility::causal;
  EXPECT_EQ(contract.most_visible(7, 3, 1), 9U);
  contract.recent = 0;
  EXPECT_EQ(contract.recent_stored(), 0U);
}

TEST(Contract, AShareOfAPromptIsTheBudgetAndGrowsWithTheAnswer) {
  Contract contract;
  contract.budget = 4;
  contract.ratio = 250;
  contract.visibility = Visibility::causal;
  contract.compress = Compress::prompt_grow;
  const auto stored = [&](std::uint64_t tokens, std::uint64_t prompt) {
    const Contract now = contract.at({.tokens = tokens, .prompt = prompt});
    EXPECT_EQ(now.fewest_stored(tokens, 1), now.most_stored(tokens, 1)) << tokens;
    return now.most_stored(tokens, 1);
  };
  EXPECT_EQ(stored(40, 40), 10U);
  EXPECT_EQ(stored(43, 40), 13U) << "of 43 tokens, the 40 of the prompt are compressed";
  EXPECT_EQ(stored(43, 43), 10U) << "rounded down";
  EXPECT_EQ(stored(8, 8), 4U) << "the least budget";
  EXPECT_EQ(stored(5, 3), 5U) << "a prompt that fits is not compressed";
  contract.compress = Compress::prompt_hold;
  EXPECT_EQ(stored(43, 40), 10U);
}

TEST(ContractJson, ARatioIsAShareWithThreeDecimals) {
  for (const char* wrong : {"1.5", "-0.1", "0.1234", "\"half\""}) {
    const std::string text = "{\"ratio\":" + std::string(wrong) + "}";
    Complaints complaints{.strict = true, .lines = {}};
    const boost::json::value json = boost::json::parse(text);
    (void)read_contract(JsonAt(json, "contract", complaints), kv::properties::Setup{}, "it");
    EXPECT_EQ(complaints.lines.size(), 1U) << wrong;
  }
}

TEST(Contract, EachUnitHasItsOwnBudget) {
  Contract contract;
  contract.sinks = 1;
  contract.recent = 2;
  contract.set_budgets({6, 0, 4});
  EXPECT_EQ(contract.budget, 4U);
  EXPECT_EQ(contract.largest_budget, any_depth);
  EXPECT_EQ(contract.of_unit(0).budget, 6U);
  EXPECT_EQ(contract.of_unit(0).recent, 2U);
  EXPECT_EQ(contract.of_unit(1).most_stored(50, 1), 50U);
  EXPECT_FALSE(contract.of_unit(2).uneven());
  contract.windows = true;
  EXPECT_EQ(contract.of_unit(0).recent, 5U);
  contract.set_budgets({5, 5});
  EXPECT_EQ(contract.budget, 5U);
  EXPECT_THAT(contract.budgets, testing::IsEmpty());
  contract.set_budgets({0, 0});
  EXPECT_EQ(contract.budget, 0U);
  EXPECT_FALSE(contract.uneven());
}

Contract read(const char* text, const kv::properties::Setup& setup, Complaints& complaints) {
  const boost::json::value value = boost::json::parse(text);
  return read_contract(JsonAt(value, "contract", complaints), setup, "");
}

TEST(ContractJson, BudgetsAreOfLayersOrOfUnits) {
  const kv::properties::Setup setup{.layers = 2, .kv_heads = 3};
  Complaints complaints = {.strict = true, .lines = {}};
  EXPECT_THAT(read(R"({"budgets":[4,0]})", setup, complaints).budgets,
              testing::ElementsAre(4, 4, 4, 0, 0, 0));
  EXPECT_THAT(read(R"({"budgets":[4,5,6,7,8,9]})", setup, complaints).budgets,
              testing::ElementsAre(4, 5, 6, 7, 8, 9));
  EXPECT_THAT(complaints.lines, testing::IsEmpty());
  EXPECT_THAT(read(R"({"budgets":[4,5,6]})", setup, complaints).budgets, testing::IsEmpty());
  EXPECT_THAT(complaints.lines,
              testing::ElementsAre(HasSubstr("budgets holds 3 numbers; expected one for each of 2 "
                                             "layers, or for each of 6 units")));
}

std::unique_ptr<Family> right(std::string_view name) {
  return std::ranges::find(right_subjects(), name, &RightSubject::name)->make();
}

std::set<std::string_view> broken_by(Family& family,
                                     std::uint64_t seed,
                                     std::vector<std::string> filter = {}) {
  BatteryOptions options;
  options.effort.seed = seed;
  options.filter = std::move(filter);
  options.shrink = false;
  const auto report = run_battery(family, options);
  EXPECT_TRUE(report) << report.error().message;
  std::set<std::string_view> broken;
  for (const LawResult& result : report->laws) {
    if (result.status == Status::broken) broken.insert(result.law->id);
    EXPECT_NE(result.status, Status::not_run) << result.law->id << ": " << result.why;
  }
  return broken;
}

constexpr std::string_view declared[] = {"plain-prompt-once",   "plain-prompt-window",
                                         "plain-ahead",         "plain-ahead-h2o",
                                         "plain-ahead-causal",  "plain-ahead-reservoir",
                                         "h2o;budgets=pyramid", "streaming;budgets=retrieval",
                                         "plain-prompt-grows",  "plain-prompt-to-budget",
                                         "plain-prompt-held",   "plain-prompt-held-lazy",
                                         "plain-prompt-pages",  "ada-snapkv-prompt"};

TEST(Declarations, AreNotHeldAgainstCachesThatDoWhatTheySay) {
  for (const std::string_view name : declared) {
    for (const std::uint64_t seed : {1U, 2U}) {
      EXPECT_THAT(broken_by(*right(name), seed), testing::IsEmpty()) << name << " seed " << seed;
    }
  }
}

// The law that each fault is made for finds it, on three seeds of three.
TEST(Declarations, FindTheFaultsThatTheyAreMadeFor) {
  for (const auto& [name, law] :
       {std::pair{"prompt-flag-survives-a-reset", "chunking.first"},
        std::pair{"prompt-cut-before-attention", "visible.semantics"},
        std::pair{"prompt-never-trimmed", "size.stored"},
        std::pair{"room-made-for-a-refused-chunk", "operation.refusal"},
        std::pair{"two-places-made-ahead", "size.full"},
        std::pair{"no-place-after-chunks", "size.stored"},
        std::pair{"places-for-a-whole-chunk", "size.full"},
        std::pair{"newest-makes-place", "resident.recent"},
        std::pair{"misdeclares-first_chunk", "chunking.longest"},
        std::pair{"misdeclares-evicts_ahead", "size.stored"},
        std::pair{"misdeclares-compress", "size.full"}, std::pair{"misdeclares-ratio", "size.full"},
        std::pair{"share-that-leaves", "size.stored"},
        std::pair{"fork-begins-anew", "operation.fork"},
        std::pair{"misdeclares-budgets", "size.stored"},
        std::pair{"misdeclares-windows", "visible.semantics"},
        std::pair{"slot-keeps-its-score", "attention.inherited"}}) {
    const auto mutant = std::ranges::find(mutants(), name, &Mutant::name)->make();
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
      EXPECT_THAT(broken_by(*mutant, seed, {law}), testing::ElementsAre(law))
          << name << " seed " << seed;
    }
  }
}

// A right cache whose declaration is taken away is told which one it was.
class Undeclared final : public ForwardingFamily {
 public:
  Undeclared(Family& to, std::function<void(Contract&)> change)
      : ForwardingFamily(to), change_(std::move(change)) {}

  [[nodiscard]] Result<Contract> contract(const kv::properties::Setup& setup) const override {
    auto contract = ForwardingFamily::contract(setup);
    if (contract) change_(*contract);
    if (contract) contract->reference.clear();
    return contract;
  }

 private:
  std::function<void(Contract&)> change_;
};

std::string legal_if(std::string_view name, std::string law, void (*change)(Contract&)) {
  const auto family = right(name);
  Undeclared undeclared(*family, change);
  BatteryOptions options;
  options.filter = {std::move(law)};
  const auto report = run_battery(undeclared, options);
  EXPECT_TRUE(report) << report.error().message;
  return report->laws.at(0).legal_if;
}

TEST(Declarations, AreNamedWhereTheyWouldMakeItLegal) {
  EXPECT_EQ(legal_if("plain-ahead", "size.full", [](Contract& c) { c.evicts_ahead = false; }),
            "evicts-ahead");
  EXPECT_EQ(legal_if("plain-prompt-once", "chunking.longest",
                     [](Contract& c) { c.longest_chunk = c.first_chunk = 0; }),
            "first-chunk=any and longest-chunk=1");
}

// Relations feed what a case feeds in another order, so only its first chunk may be long.
TEST(Declarations, OfAPromptMakeCasesWhoseFirstChunkAloneIsLong) {
  const auto family = right("plain-prompt-once");
  CaseScope scope{.wants = {.forks = true, .truncates = true, .resets = true},
                  .requested = {.sinks = 1, .recent = 3, .budget = 9},
                  .contract = [&](const kv::properties::Setup& setup) -> std::optional<Contract> {
                    const auto contract = family->contract(setup);
                    if (!contract) return {};
                    return *contract;
                  }};
  int prompts = 0;
  const CaseSource source(scope);
  for (std::uint64_t i = 0; i < 200; ++i) {
    bool first = true;
    for (const Call& call : source.at(i).value().calls) {
      if (call.kind != Call::Kind::feed || call.amount == 0) continue;
      prompts += first && call.amount > 1 ? 1 : 0;
      EXPECT_TRUE(first || call.amount == 1) << source.at(i).value().text();
      first = false;
    }
  }
  EXPECT_GT(prompts, 30);
}

// The verdict says what it says little about, and which declaration would change that.
TEST(Declarations, OfNoReferenceLeaveScoresHardlyJudged) {
  const auto family = right("plain-streaming");
  BatteryOptions options;
  options.cases = 1;
  BatteryResult report = run_battery(*family, options).value();
  const auto note = [&] {
    std::ostringstream text;
    write_text(report, "s", text);
    std::ostringstream json;
    write_json(report, json);
    const boost::json::value parsed = boost::json::parse(json.str());
    const std::string written(parsed.at("scores_note").as_string());
    EXPECT_EQ(text.str().find("Scores are hardly judged") == std::string::npos, written.empty());
    return written;
  };
  report.contract.wants_attention = true;
  report.contract.reference.clear();
  report.contract.sinks = 1;
  report.contract.recent = 3;
  report.contract.budget = 9;
  EXPECT_THAT(note(), testing::HasSubstr(R"("reference":"h2o:sinks=1,recent=3,budget=9")"));
  report.contract.reference = "h2o:budget=9";
  EXPECT_EQ(note(), "");
  report.contract.reference.clear();
  report.contract.wants_attention = false;
  EXPECT_EQ(note(), "");
  report.contract.wants_attention = true;
  std::erase_if(report.laws,
                [](const LawResult& tried) { return tried.law->id.starts_with("reference."); });
  EXPECT_EQ(note(), "");
}

}  // namespace
}  // namespace kv::properties
