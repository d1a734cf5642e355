// Each law that judges histories, on a right history and on the same one altered in one place.
#include <algorithm>
#include <functional>

#include "kvcheck/properties/subjects/spec_subject.h"
#include "kvcheck/sim/spec/spec.h"
#include "kvcheck/tests/properties/accuse.h"

namespace kv::properties {
namespace {

struct Altered {
  std::string law;
  std::string spec;
  std::function<void(History&)> bend;
  std::string words;
};

History run(const std::string& text) {
  const auto spec = parse_spec(text);
  EXPECT_TRUE(spec) << text << ": " << spec.error().message;
  const auto family = make_spec_family(*spec);
  const Case what = feeding(family->requested(), {.seed = 3}, {1, 1, 2, 5, 1, 1});
  return *run_case(*family, what);
}

std::string judge(const std::string& id, const History& history) {
  const Law* law = find_law(id);
  EXPECT_NE(law, nullptr) << id;
  const auto judgement = std::get<JudgeHistory>(law->check)(history, history.contract);
  if (const auto* finding = std::get_if<Finding>(&judgement)) return words_of(*finding);
  if (const auto* why = std::get_if<NotTested>(&judgement)) return "(not tested: " + why->why + ")";
  return "";
}

UnitFacts& facts(History& history, std::size_t event) {
  return history.events[event].facts.units[0];
}

Row row(std::int32_t position, std::int32_t variant = 0) {
  Row row;
  row.value = {position, variant};
  row.key = row.value;
  return row;
}

// Shows or hides a position to a query.
void show(UnitFacts& unit, std::size_t query, std::int32_t position, bool shown) {
  for (std::size_t r = 0; r < unit.returned.size(); ++r) {
    if (unit.returned[r].value.position != position) continue;
    unit.visible[query * unit.mask_width + r] = shown ? 1 : 0;
  }
}

// Gives attention one more row, seen by every query.
void give(UnitFacts& unit, const Row& extra, std::size_t queries) {
  const std::size_t width = unit.mask_width;
  std::vector<std::uint8_t> visible;
  for (std::size_t query = 0; query < queries; ++query) {
    const auto line = unit.visible.begin() + static_cast<std::ptrdiff_t>(query * width);
    visible.insert(visible.end(), line, line + static_cast<std::ptrdiff_t>(width));
    visible.push_back(1);
  }
  unit.returned.push_back(extra);
  unit.mask_width = width + 1;
  unit.visible = visible;
}

constexpr auto streaming = "streaming:sinks=1,recent=3";
constexpr auto early = "streaming:sinks=1,recent=3;timing=trim-then-attend";
constexpr auto windowed = "streaming:sinks=1,recent=3;visibility=window";
constexpr auto middle = "random:sinks=1,recent=2,budget=5";

// Event 3 feeds 4-8, event 4 feeds 9, event 5 feeds 10.
const std::vector<Altered>& altered_sizes() {
  static const std::vector<Altered> all = {
      {"size.stored", streaming,
       [](History& h) { facts(h, 4).stored.insert(facts(h, 4).stored.begin() + 1, row(6)); },
       "expected: at most 4 rows stored after 10 tokens; seen: 5 rows: 0 6-9"},
      {"size.stored", early,
       [](History& h) { facts(h, 3).stored.insert(facts(h, 3).stored.begin() + 1, row(3)); },
       "expected: at most 6 rows stored after 9 tokens; seen: 7 rows: 0 3-8"},
      {"size.full", streaming, [](History& h) { facts(h, 5).stored.pop_back(); },
       "expected: at least 4 rows stored after 11 tokens; seen: 3 rows: 0 8 9"},
      {"size.visible", windowed, [](History& h) { show(facts(h, 3), 4, 4, true); },
       "expected: query 8 of chunk 4-8 sees at most 4 rows, 4 rows having been stored before the "
       "call; seen: it sees 5: 0 4 6-8"},
      {"size.visible", early, [](History& h) { give(facts(h, 5), row(7), 1); },
       "expected: query 10 sees at most 4 rows, 4 rows having been stored before the call; seen: "
       "it sees 5: 0 7-10"},
      {"size.reported", streaming, [](History& h) { facts(h, 4).reported = 10; },
       "expected: the reported length is the 4 rows that are stored after 10 tokens; seen: it "
       "reports 10"},
      {"size.mask-width", streaming, [](History& h) { facts(h, 4).mask_width = 10; },
       "expected: the mask has a column for each of the 5 rows returned to attention; seen: it is "
       "10 wide"},
      {"size.mask-width", streaming, [](History& h) { facts(h, 4).visible.pop_back(); },
       "expected: the mask has 1 x 5 entries; seen: it has 4"},
      {"size.bytes", streaming,
       [](History& h) {
         for (Event& event : h.events) event.facts.units[0].bytes = 16 * event.branch.size();
       },
       "expected: 4 rows occupy the 144 bytes that as many occupied before; seen: 160 bytes are "
       "reported after 10 tokens"},
      {"size.bytes", streaming,
       [](History& h) {
         for (Event& event : h.events) event.facts.units[0].bytes = 0;
       },
       "expected: 1 row occupy some bytes; seen: 0 bytes are reported"},
  };
  return all;
}

const std::vector<Altered>& altered_visibility() {
  static const std::vector<Altered> all = {
      {"visible.self", streaming, [](History& h) { show(facts(h, 3), 1, 5, false); },
       "expected: query 5 of chunk 4-8 sees its own token; seen: it sees 0-4"},
      {"visible.none-empty", streaming,
       [](History& h) { std::ranges::fill(facts(h, 4).visible, std::uint8_t{0}); },
       "expected: query 9 sees at least one row; seen: it sees none of the 5 rows returned"},
      {"visible.no-future", streaming, [](History& h) { show(facts(h, 3), 1, 7, true); },
       "expected: query 5 of chunk 4-8 sees nothing after 5; seen: it sees 7"},
      {"visible.from-stored", streaming, [](History& h) { give(facts(h, 5), row(4), 1); },
       "expected: query 10 sees only what was stored (0 7-9) and its chunk up to itself; seen: it "
       "sees 4 too"},
      {"visible.sinks", streaming, [](History& h) { show(facts(h, 3), 2, 0, false); },
       "expected: query 6 of chunk 4-8 sees the sinks 0; seen: it does not see 0 of them, but 1-6"},
      {"visible.recent", streaming, [](History& h) { show(facts(h, 5), 0, 9, false); },
       "expected: query 10 sees the latest 3: 8-10; seen: it does not see 9 of them, but 0 7 8 10"},
      {"visible.semantics", streaming, [](History& h) { show(facts(h, 5), 0, 7, false); },
       "expected: query 10 sees 0 7-10; seen: it sees 0 8-10"},
      {"visible.semantics", middle, [](History& h) { show(facts(h, 3), 4, 4, false); },
       "expected: query 8 of chunk 4-8 sees 0-8; seen: it sees 0-3 5-8"},
      {"visible.same-past", streaming, [](History& h) { show(facts(h, 3), 3, 1, false); },
       "expected: query 7 of chunk 4-8 sees of the tokens before the chunk what its first query "
       "sees: 0-3; seen: it sees 0 2 3 of them"},
      {"visible.masked-never-mixed", windowed,
       [](History& h) { facts(h, 3).weights.assign(5 * facts(h, 3).returned.size(), 0.1F); },
       "expected: query 4 of chunk 4-8 gives no weight to 1, which it does not see; seen: it gives "
       "it 0.100000"},
  };
  return all;
}

const std::vector<Altered>& altered_residents() {
  static const std::vector<Altered> all = {
      {"rows.fed", streaming, [](History& h) { facts(h, 4).stored[1] = row(7, 2); },
       "expected: a stored row holds one of the tokens of its branch, 0-9; seen: slot 1 holds 7v2"},
      {"rows.fed", streaming, [](History& h) { give(facts(h, 4), row(-1), 1); },
       "expected: a row that attention sees holds one of the tokens of its branch, 0-9; seen: slot "
       "5 holds no token"},
      {"rows.fed", streaming, [](History& h) { facts(h, 4).stored[3] = row(-1); },
       "expected: a stored row holds one of the tokens of its branch, 0-9; seen: slot 3 holds no "
       "token; a row that holds no token (-1) may be returned and hidden by the mask, but it is "
       "not stored: leave out rows that were never written or are free"},
      {"rows.unique", streaming, [](History& h) { facts(h, 4).stored[1] = row(8); },
       "expected: no token is in a stored row twice; seen: 8 is there 2 times, among 0 8 8 9"},
      {"rows.order", streaming,
       [](History& h) { std::swap(facts(h, 4).stored[0], facts(h, 4).stored[1]); },
       "expected: stored rows stand in stream order; seen: 0 stands behind 7"},
      {"resident.sinks", streaming, [](History& h) { facts(h, 4).stored[0] = row(6); },
       "expected: the sinks 0 are stored after 10 tokens; seen: 0 is not; stored are 6-9"},
      {"resident.recent", streaming, [](History& h) { facts(h, 4).stored[3] = row(6); },
       "expected: the latest 3 tokens 7-9 are stored after 10 tokens; seen: 9 is not; stored are 0 "
       "6-8"},
      {"resident.survivors", streaming, [](History& h) { facts(h, 4).stored[1] = row(2); },
       "expected: what is stored after a call was stored before it (0 6-8) or came with it (9); "
       "seen: 2 is stored too"},
      {"resident.no-resurrection", streaming, [](History& h) { facts(h, 5).stored[1] = row(2); },
       "expected: 2 was not stored after 9 tokens, so it must not return; seen: it is stored "
       "again: 0 2 "
       "9 10"},
      {"resident.no-resurrection", windowed, [](History& h) { show(facts(h, 3), 2, 1, true); },
       "expected: 1 was not visible to query 4, so no later query sees it; seen: query 6 of chunk "
       "4-8 sees it"},
      {"resident.newcomer", middle,
       [](History& h) {
         std::erase_if(facts(h, 5).stored, [](const Row& r) { return r.value.position == 8; });
       },
       "expected: 8, which left the recent window last, enters the middle; seen: it is evicted"},
      {"reference.dense", streaming, [](History& h) { show(facts(h, 2), 1, 0, false); },
       "expected: query 3 of chunk 2 3 sees all that was fed: 0-3; seen: it sees 1-3"},
      {"reference.dense", streaming, [](History& h) { facts(h, 1).stored.pop_back(); },
       "expected: all 2 tokens fit and are stored: 0 1; seen: stored are 0"},
      {"chunking.longest", streaming,
       [](History& h) {
         h.events[3].refused = true;
         h.events[3].why = "too long";
       },
       "expected: a chunk of 5 tokens is taken: no limit is declared; seen: it is refused: too "
       "long"},
      {"chunking.longest", streaming,
       [](History& h) {
         h.contract.longest_chunk = 4;
         h.events[3].refused = true;
       },
       "expected: a refused chunk leaves 0-3 stored; seen: stored are 0 6-8"},
  };
  return all;
}

class LawOnHistories : public ::testing::TestWithParam<Altered> {};

TEST_P(LawOnHistories, HoldsAndSaysHowItIsBroken) {
  const Altered& altered = GetParam();
  History history = run(altered.spec);
  EXPECT_EQ(judge(altered.law, history), "");
  altered.bend(history);
  EXPECT_THAT(judge(altered.law, history), ::testing::StartsWith(altered.words));
}

INSTANTIATE_TEST_SUITE_P(Sizes, LawOnHistories, ::testing::ValuesIn(altered_sizes()));
INSTANTIATE_TEST_SUITE_P(Sight, LawOnHistories, ::testing::ValuesIn(altered_visibility()));
INSTANTIATE_TEST_SUITE_P(Residents, LawOnHistories, ::testing::ValuesIn(altered_residents()));

TEST(LawOnHistories, BytesThatFollowRowsAndWeightsThatFollowTheMaskAreRight) {
  History history = run(windowed);
  for (Event& event : history.events) {
    UnitFacts& unit = event.facts.units[0];
    unit.bytes = 64 * unit.stored.size();
    unit.weights.clear();
    for (const std::uint8_t bit : unit.visible) unit.weights.push_back(bit == 0 ? 0.0F : 0.25F);
  }
  EXPECT_EQ(judge("size.bytes", history), "");
  EXPECT_EQ(judge("visible.masked-never-mixed", history), "");
}

TEST(LawOnHistories, WhatIsNotReportedIsNotJudged) {
  History history = run(windowed);
  for (Event& event : history.events) {
    event.facts.units[0].bytes.reset();
    event.facts.units[0].weights.clear();
  }
  EXPECT_EQ(judge("size.bytes", history), "(not tested: the subject tells no bytes)");
  EXPECT_EQ(judge("visible.masked-never-mixed", history),
            "(not tested: the subject tells no weights)");
}

TEST(LawOnHistories, ADeclarationMakesWhatItNamesLegal) {
  History history = run("streaming:sinks=1,recent=3;timing=lazy:4");
  const auto stored = std::get<JudgeHistory>(find_law("size.stored")->check);
  Contract strict = history.contract;
  strict.timing = Timing::attend_then_trim;
  EXPECT_TRUE(std::holds_alternative<Finding>(stored(history, strict)));
  bool legal = false;
  for (const Relaxation& relaxed : relaxations(strict)) {
    if (!std::holds_alternative<std::monostate>(stored(history, relaxed.contract))) continue;
    legal |= relaxed.declaration == "timing=lazy:4 and visibility=causal";
  }
  EXPECT_TRUE(legal);
}

TEST(LawOnHistories, EveryLawTellsItsStory) {
  for (const Law& law : laws_on_rows()) {
    EXPECT_EQ(find_law(law.id)->id, law.id);
    EXPECT_TRUE(law.sentence.ends_with('.')) << law.id;
    EXPECT_GE(std::ranges::count(law.why, '.'), 3) << law.id;
    EXPECT_GT(law.seen_in.size(), 10U) << law.id;
  }
}

}  // namespace
}  // namespace kv::properties
