// Subjects whose layers or heads have budgets of their own: what their contracts say, and that the
// laws notice when the rows are dealt otherwise.
#include <utility>

#include <boost/json/parse.hpp>

#include "kvcheck/base/text/json_at.h"
#include "kvcheck/properties/battery/battery.h"
#include "kvcheck/properties/remote/contract_json.h"
#include "kvcheck/properties/subjects/spec_subject.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv::properties {
namespace {

Contract declared_by(const std::string& words) {
  return contract_of(parse_spec(words).value(), {.layers = 3, .kv_heads = 2});
}

TEST(UnevenBudgets, AreARangeInTheContract) {
  const Contract even = declared_by("reservoir:sinks=0,recent=4,budget=14");
  EXPECT_FALSE(even.uneven());
  EXPECT_TRUE(even.claims_to_be("uniform"));

  const Contract dealt = declared_by("reservoir:sinks=0,recent=4,budget=14;budgets=pyramid:2");
  EXPECT_TRUE(dealt.uneven());
  EXPECT_EQ(dealt.budget, 9U);
  EXPECT_EQ(dealt.largest_budget, 19U);
  EXPECT_EQ(dealt.most_stored(100, 1), 19U);
  EXPECT_EQ(dealt.fewest_stored(100, 1), 9U);
  EXPECT_EQ(dealt.most_visible(19, 1, 0), 20U);
  EXPECT_FALSE(dealt.claims_to_be("uniform"));

  const Contract some = declared_by("streaming:sinks=2,recent=9;budgets=retrieval:1.1");
  EXPECT_EQ(some.budget, 11U);
  EXPECT_EQ(some.largest_budget, any_depth);
  EXPECT_EQ(some.most_stored(100, 1), 100U);
}

TEST(UnevenBudgets, ThatAreSharedNameTheMean) {
  const Contract shared = declared_by("h2o:recent=4,budget=14;budgets=adaptive:0.25");
  EXPECT_TRUE(shared.shares_budget());
  EXPECT_EQ(shared.mean_budget, 14U);
  EXPECT_EQ(shared.budget, 4U + 2U);
  EXPECT_EQ(shared.largest_budget, 4U + 18U);
  EXPECT_FALSE(declared_by("h2o:recent=4,budget=14;budgets=adaptive:1").uneven());
  EXPECT_FALSE(declared_by("h2o:recent=4,budget=14;budgets=pyramid:2").shares_budget());
}

TEST(UnevenBudgets, GoThroughTheProtocol) {
  for (const std::string words :
       {"h2o:recent=4,budget=14;budgets=adaptive:0.5", "h2o:recent=4,budget=14;budgets=pyramid:2",
        "streaming:sinks=2,recent=9;budgets=retrieval:1.1"}) {
    const Contract contract = declared_by(words);
    const boost::json::value value = boost::json::parse(contract_json(contract));
    Complaints complaints;
    const kv::properties::Setup setup{.layers = 3, .kv_heads = 2};
    const Contract read = read_contract(JsonAt(value, "contract", complaints), setup, "");
    EXPECT_EQ(read, contract);
  }
}

// Declares what one spec does, and is another.
class Impostor final : public Family {
 public:
  Impostor(const std::string& declared, const std::string& real)
      : declared_(make_spec_family(parse_spec(declared).value())),
        real_(make_spec_family(parse_spec(real).value())) {}

  [[nodiscard]] std::string name() const override { return "impostor"; }

  [[nodiscard]] Result<Contract> contract(const Setup& setup) const override {
    return declared_->contract(setup);
  }

  [[nodiscard]] std::unique_ptr<Subject> make(const Setup& setup, const DrawsOf& draws) override {
    return real_->make(setup, draws);
  }

  [[nodiscard]] bool uses_draws() const override { return true; }

  [[nodiscard]] Setup requested() const override { return declared_->requested(); }

 private:
  std::unique_ptr<Family> declared_;
  std::unique_ptr<Family> real_;
};

// The first law on rows that the subject breaks.
std::string first_broken(Family& family) {
  BatteryOptions options;
  options.cases = 60;
  options.shrink = false;
  options.filter = {"size.*", "reference.*"};
  const auto report = run_battery(family, options);
  for (const LawResult& result : report.value().laws) {
    if (result.status == Status::broken) return std::string(result.law->id);
  }
  return "none";
}

TEST(UnevenBudgets, AreHeldByOurCacheOnly) {
  const std::string equal = "h2o:recent=4,budget=14";
  const std::string steep = equal + ";budgets=pyramid:9";
  const std::string flat = equal + ";budgets=pyramid:2";
  const std::string one = equal + ";budgets=retrieval:0.0";
  const std::string other = equal + ";budgets=retrieval:0.1";
  const std::string shared = equal + ";budgets=adaptive:0.2";
  const std::string safer = equal + ";budgets=adaptive:0.7";
  for (const auto& [declared, real] :
       std::vector<std::pair<std::string, std::string>>{{equal, flat},
                                                        {flat, steep},
                                                        {steep, flat},
                                                        {flat, equal},
                                                        {equal, one},
                                                        {one, equal},
                                                        {one, other},
                                                        {equal, shared},
                                                        {shared, equal},
                                                        {shared, safer},
                                                        {safer, shared}}) {
    Impostor family(declared, real);
    EXPECT_NE(first_broken(family), "none") << declared << " " << real;
  }
  for (const std::string& right : {flat, steep, one, shared, safer}) {
    Impostor family(right, right);
    EXPECT_EQ(first_broken(family), "none") << right;
  }
}

}  // namespace
}  // namespace kv::properties
