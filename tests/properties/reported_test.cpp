// No law may hold of facts that a subject never reports. On subjects that report only which token
// each row belongs to, each law that holds can be broken by a subject that reports as little.
#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "kvcheck/properties/battery/battery.h"
#include "kvcheck/properties/conformance/conformance.h"
#include "kvcheck/properties/mutants/mutants.h"
#include "kvcheck/properties/selftest/right_subjects.h"
#include "kvcheck/tests/properties/hiding_family.h"

namespace kv::properties {
namespace {

template <typename All>
std::unique_ptr<Family> hiding(const All& all, std::string_view name) {
  const auto found = std::ranges::find_if(all, [&](const auto& each) { return each.name == name; });
  EXPECT_NE(found, all.end()) << name;
  return make_hiding(found->make());
}

BatteryResult battery(Family& family, std::vector<std::string> filter, std::uint32_t cases) {
  BatteryOptions options;
  options.filter = std::move(filter);
  options.cases = cases;
  options.shrink = false;
  auto report = run_battery(family, options);
  EXPECT_TRUE(report);
  return *std::move(report);
}

// Laws on cases; statistics name the smallest effect that they would have seen.
std::map<std::string_view, LawResult> results(Family& family) {
  std::map<std::string_view, LawResult> all;
  for (LawResult& result : battery(family, {}, 40).laws) {
    if (std::holds_alternative<Measure>(result.law->check)) continue;
    all.emplace(result.law->id, result);
  }
  return all;
}

// For each law a mutant that breaks it although everything but ids is hidden.
const std::map<std::string_view, std::string_view>& killers() {
  static const std::map<std::string_view, std::string_view> all = {
      {"attention.no-leak", "later-tokens-of-the-chunk-visible"},
      {"attention.decides", "misclaims-score-driven"},
      {"chunking.empty-call", "global-generator"},
      {"chunking.longest", "misdeclares-longest_chunk"},
      {"chunking.state", "budget-per-chunk"},
      {"chunking.timing", "budget-per-chunk"},
      {"chunking.visible", "mask-width-from-window"},
      {"isolation.certain", "misdeclares-random"},
      {"isolation.objects", "global-generator"},
      {"isolation.seeds", "first-layer-rows-in-all-layers"},
      {"isolation.sequences", "third-sequence-sees-no-sinks"},
      {"operation.determinism", "global-generator"},
      {"operation.fork", "fork-is-an-alias"},
      {"operation.refusal", "refuses-halfway"},
      {"operation.reorder", "third-sequence-sees-no-sinks"},
      {"operation.reorder-hostile", "reorder-does-nothing"},
      {"operation.reset", "reset-keeps-the-logical-length"},
      {"operation.rollback-declared", "rollback-shallower-than-promised"},
      {"operation.snapshot", "snapshot-loses-scores"},
      {"operation.truncate", "rollback-slices-by-logical-length"},
      {"operation.truncate-hostile", "negative-rollback-adds-rows"},
      {"reference.dense", "short-input-keeps-none"},
      {"reference.model", "newest-is-the-victim"},
      {"reference.reductions", "newest-is-the-victim"},
      {"resident.no-resurrection", "mask-width-from-window"},
      {"resident.recent", "trims-one-more"},
      {"resident.sinks", "short-input-keeps-none"},
      {"resident.survivors", "compaction-onto-a-live-row"},
      {"rows.fed", "merged-values"},
      {"rows.order", "merged-values"},
      {"rows.unique", "compaction-onto-a-live-row"},
      {"size.constant", "misclaims-constant-size"},
      {"size.full", "trims-one-more"},
      {"size.liveness", "never-evicts-reports-the-budget"},
      {"size.mask-width", "mask-width-from-stream-length"},
      {"size.stored", "never-evicts-reports-the-budget"},
      {"size.visible", "budget-per-chunk"},
      {"survives", "a-cache-per-query-head"},
      {"visible.from-stored", "later-tokens-of-the-chunk-visible"},
      {"visible.no-future", "later-tokens-of-the-chunk-visible"},
      {"visible.none-empty", "evicts-before-attention"},
      {"visible.recent", "drops-by-allocated-width"},
      {"visible.same-past", "past-slides-within-a-chunk"},
      {"visible.self", "evicts-before-attention"},
      {"visible.semantics", "budget-per-chunk"},
      {"visible.sinks", "short-input-keeps-none"},
  };
  return all;
}

constexpr std::string_view rights[] = {"plain-streaming", "plain-rollback", "plain-reservoir-r",
                                       "plain-causal", "plain-refuses"};

TEST(Reported, WhatHoldsOfIdsAloneCanBeBrokenByIdsAlone) {
  std::set<std::string_view> held;
  for (const std::string_view name : rights) {
    const auto family = hiding(right_subjects(), name);
    for (const auto& [id, result] : results(*family)) {
      EXPECT_NE(result.status, Status::broken) << name << " " << id;
      if (result.status == Status::held) held.insert(id);
    }
  }
  for (const std::string_view id : held) {
    const auto killer = killers().find(id);
    ASSERT_NE(killer, killers().end())
        << id
        << " holds of subjects that report only ids, and nothing shows that it can fail there";
    const auto mutant = hiding(mutants(), killer->second);
    const BatteryResult report = battery(*mutant, {std::string(id)}, 60);
    EXPECT_EQ(report.laws.at(0).status, Status::broken) << id << " of " << killer->second;
  }
  EXPECT_GE(held.size(), 30U);
}

TEST(Reported, WhatIsNeverReportedIsNotApplicableWithAReason) {
  const auto family = hiding(right_subjects(), "plain-streaming");
  const auto all = results(*family);
  for (const std::string_view id :
       {"row.pairing", "row.place", "row.unharmed", "row.precision", "row.returned-equals-stored",
        "row.evict-equals-mask", "size.reported", "size.bytes", "attention.offset",
        "attention.sums-to-one", "attention.renormalised", "attention.permutation",
        "isolation.layers", "isolation.heads", "isolation.group", "visible.masked-never-mixed",
        "position.distance", "position.norm", "position.shift-composes"}) {
    EXPECT_EQ(all.at(id).status, Status::not_applicable) << id;
    EXPECT_FALSE(all.at(id).why.empty()) << id;
  }
}

TEST(Reported, RowsThatSayMoreAreJudged) {
  const auto family = std::ranges::find(right_subjects(), "plain-h2o", &RightSubject::name);
  const auto all = results(*family->make());
  for (const std::string_view id :
       {"row.pairing", "row.place", "row.unharmed", "row.precision", "row.returned-equals-stored",
        "size.mask-width", "attention.offset", "attention.no-leak", "isolation.layers"}) {
    EXPECT_EQ(all.at(id).status, Status::held) << id << ": " << all.at(id).why;
  }
}

// A window of ids, which reports neither masks nor rows itself.
class IdsOnly final : public SimpleCache {
 public:
  explicit IdsOnly(const kv::properties::Setup& setup) : budget_(setup.budget) {
    const bool fits = setup.sinks == 0 && setup.recent <= setup.budget && setup.budget > 0;
    if (!fits) throw std::invalid_argument("a window without sinks, please");
  }

  std::vector<std::vector<Token>> append(std::span<const Token> tokens) override {
    std::vector<std::vector<Token>> seen;
    for (const Token token : tokens) {
      held_.push_back(token);
      if (held_.size() > budget_) held_.erase(held_.begin());
      seen.push_back(held_);
    }
    return seen;
  }

  [[nodiscard]] std::vector<Token> kept() const override { return held_; }

 private:
  std::uint32_t budget_;
  std::vector<Token> held_;
};

TEST(Reported, WhatTheSimpleWayInMakesUpIsNotJudged) {
  const auto family = simple_family<IdsOnly>(
      "ids-only", [](Contract& contract) { contract.recent = contract.budget; });
  const auto all = results(*family);
  for (const std::string_view id : {"size.mask-width", "row.place", "row.pairing", "row.unharmed",
                                    "row.precision", "row.returned-equals-stored"}) {
    EXPECT_EQ(all.at(id).status, Status::not_applicable) << id;
  }
  EXPECT_EQ(all.at("visible.semantics").status, Status::held) << all.at("visible.semantics").why;
  EXPECT_EQ(all.at("rows.fed").status, Status::held);
}

}  // namespace
}  // namespace kv::properties
