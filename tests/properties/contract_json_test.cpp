#include "kvcheck/properties/remote/contract_json.h"

#include <boost/json.hpp>

#include "kvcheck/base/text/json_text.h"
#include "kvcheck/properties/remote/facts_json.h"

namespace kv::properties {
namespace {

Contract through_the_protocol(const Contract& contract) {
  const boost::json::value value = boost::json::parse(contract_json(contract));
  Complaints complaints;
  const Setup setup{.layers = 2, .kv_heads = 2};
  Contract read = read_contract(JsonAt(value, "contract", complaints), setup, "");
  EXPECT_THAT(complaints.lines, testing::IsEmpty());
  return read;
}

// A contract that declares something of everything.
Contract full_contract() {
  Contract contract;
  contract.name = "mine";
  contract.sinks = 1;
  contract.recent = 2;
  contract.budget = 9;
  contract.largest_budget = 12;
  contract.mean_budget = 10;
  contract.budgets = {9, 9, 12, 12};
  contract.windows = true;
  contract.rows_from = {0, 0};
  contract.timing = Timing::lazy;
  contract.slack = 3;
  contract.visibility = Visibility::top_pages;
  contract.top_pages = {.attended = 24, .page = 4, .dense_layers = 1};
  contract.positions = PositionMode::shifted;
  contract.unit = Unit::layer;
  contract.page = 4;
  contract.pinned_first_page = true;
  contract.shows_pages = true;
  contract.unordered = true;
  contract.masks_evicted = true;
  contract.may_evict_newest = true;
  contract.random = true;
  contract.keeps_fewer = true;
  contract.evicts_ahead = true;
  contract.compress = Compress::prompt_hold;
  contract.ratio = 125;
  contract.longest_chunk = 7;
  contract.first_chunk = 20;
  contract.rollback = 5;
  contract.shifts = true;
  contract.precision = Precision::int4;
  contract.full_precision_recent = 6;
  contract.full_precision_sinks = 8;
  contract.wants_attention = true;
  contract.claims = {"uniform", "constant-size"};
  contract.reference = "streaming:sinks=4,budget=64";
  return contract;
}

TEST(ContractJson, EveryFieldPassesThroughTheProtocol) {
  const Contract contract = full_contract();
  EXPECT_EQ(through_the_protocol(contract), contract);
  EXPECT_EQ(through_the_protocol({}), Contract{});
  const auto full = boost::json::parse(contract_json(contract)).as_object();
  const auto plain = boost::json::parse(contract_json({})).as_object();
  for (const auto& field : full) {
    EXPECT_NE(field.value(), plain.at(field.key())) << field.key() << " was not tried";
  }
}

TEST(ContractJson, DepthsMayBeAny) {
  Contract contract;
  contract.rollback = any_depth;
  contract.first_chunk = any_depth;
  contract.largest_budget = any_depth;
  EXPECT_EQ(through_the_protocol(contract), contract);
}

TEST(ContractJson, WrongSizesAreNamed) {
  const auto complaints_of = [](const char* text) {
    const boost::json::value value = boost::json::parse(text);
    Complaints complaints = {.strict = true, .lines = {}};
    read_contract(JsonAt(value, "contract", complaints), {}, "");
    return complaints.lines;
  };
  EXPECT_THAT(complaints_of(R"({"page": 0})"),
              testing::ElementsAre(testing::HasSubstr("page must be at least 1")));
  for (const char* text : {R"({"attended": 30, "attended_page": 16})", R"({"attended": 0})",
                           R"({"attended_page": 0})"}) {
    EXPECT_THAT(complaints_of(text),
                testing::ElementsAre(testing::HasSubstr("attended must be a multiple")))
        << text;
  }
  EXPECT_THAT(complaints_of(R"({"full_precision_sink": 1})"),
              testing::ElementsAre(testing::HasSubstr("full_precision_sinks")));
}

// A reader would take the numbers that stand for "not reported" for places.
TEST(FactsJson, LeavesOutPlacesThatAreNotReported) {
  UnitFacts unit;
  unit.stored = {row_of({.position = 3})};
  unit.stored[0].key_place = {.sequence = 0, .layer = 1, .head = 2};
  const boost::json::value value = boost::json::parse(unit_json(unit, 0));
  Complaints complaints{.strict = true, .lines = {}};
  const UnitFacts read = read_unit(JsonAt(value, "unit", complaints), 0);
  EXPECT_THAT(complaints.lines, testing::IsEmpty());
  EXPECT_EQ(read.stored[0].key_place, unit.stored[0].key_place);
  EXPECT_EQ(read.stored[0].value_place, place_not_reported);
}

}  // namespace
}  // namespace kv::properties
