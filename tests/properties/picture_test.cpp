#include "kvcheck/properties/output/result_writers.h"

namespace kv::properties {
namespace {

Row row_of(std::int32_t position, std::int32_t variant = 0) {
  Row row;
  row.value = row.key = {position, variant};
  return row;
}

// A call that fed tokens `first` to `last`; query i sees every returned row up to itself.
History history_of(std::int32_t first, std::int32_t last, const std::vector<Row>& before) {
  History history;
  history.contract.unit = Unit::kv_head;
  Event event{.call = {.amount = last - first + 1}};
  for (std::int32_t i = 0; i <= last; ++i) event.branch.push_back({i, 0});
  UnitFacts unit;
  unit.returned = before;
  for (std::int32_t i = first; i <= last; ++i) {
    event.fed.push_back({i, 0});
    unit.returned.push_back(row_of(i));
  }
  unit.mask_width = unit.returned.size();
  for (const Token query : event.fed) {
    for (const Row& row : unit.returned) {
      unit.visible.push_back(row.value.position <= query.position ? 1 : 0);
    }
  }
  unit.stored = unit.returned;
  event.facts.units.push_back(unit);
  history.events.push_back(event);
  return history;
}

TEST(Picture, ShowsWhatIsMissingAndForbidden) {
  const History history = history_of(4, 6, {row_of(1), row_of(2), row_of(3)});
  Finding finding{.expected = {}, .seen = {}, .query = 1, .should_see = {}, .history = {}};
  finding.should_see = std::vector<Token>{{0, 0}, {3, 0}, {4, 0}, {5, 0}};
  EXPECT_EQ(picture(history, finding),
            "             0 1 2 3 4 5 6\n"
            "query 4      . # # # # . .\n"
            ">query 5     o x x # # # .\n"
            "query 6      . # # # # # #\n"
            "stored       . # # # # # #\n"
            "(# visible  . not  o missing  x forbidden)\n");
}

TEST(Picture, NamesTokensOfOtherVariantsAndStrangers) {
  const History history = history_of(2, 2, {row_of(0), row_of(1, 3), row_of(-1)});
  EXPECT_EQ(picture(history, {.expected = {}, .seen = {}, .should_see = {}, .history = {}}),
            "               0   1   2 1v3   ?\n"
            "query 2        #   .   #   #   #\n"
            "stored         #   .   #   #   #\n"
            "(# visible  . not)\n");
}

TEST(Picture, LeavesOutColumnsAndQueriesThatDoNotFit) {
  const History history = history_of(0, 99, {});
  Finding finding{.expected = {}, .seen = {}, .query = 50, .should_see = {}, .history = {}};
  finding.should_see.emplace();
  for (std::int32_t i = 0; i <= 50; ++i) {
    if (i != 30) finding.should_see->push_back({i, 0});
  }
  const std::string text = picture(history, finding);
  EXPECT_THAT(text, testing::HasSubstr(">query 50"));
  EXPECT_THAT(text, testing::HasSubstr("(91 more queries)"));
  EXPECT_THAT(text, testing::HasSubstr(" 30"));
  EXPECT_THAT(text, testing::HasSubstr("~ left out here"));
  std::size_t begin = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    EXPECT_LE(end - begin, 94U);
    begin = end + 1;
  }
}

TEST(Picture, IsEmptyWhereThereIsNoCall) {
  const History history = history_of(0, 1, {});
  Finding finding{.expected = {}, .seen = {}, .event = 1, .should_see = {}, .history = {}};
  EXPECT_EQ(picture(history, finding), "");
  finding.event = 0;
  finding.unit = 7;
  EXPECT_EQ(picture(history, finding), "");
}

}  // namespace
}  // namespace kv::properties
