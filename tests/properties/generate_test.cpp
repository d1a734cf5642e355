#include "kvcheck/properties/cases/generate.h"

#include <map>
#include <set>

#include "kvcheck/properties/cases/shapes.h"
#include "kvcheck/properties/subjects/spec_subject.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv::properties {
namespace {

using Kind = Call::Kind;

// Cases for a policy with a middle, so that any sizes can be made.
CaseSource source_with(const Wants& wants, bool takes_sizes = true, std::uint64_t seed = 1) {
  static const std::unique_ptr<Family> family =
      make_spec_family(*parse_spec("random:sinks=4,recent=28,budget=64"));
  CaseScope scope{.wants = wants,
                  .requested = family->requested(),
                  .takes_sizes = takes_sizes,
                  .seed = seed,
                  .contract = {}};
  scope.contract = [](const kv::properties::Setup& setup) -> std::optional<Contract> {
    auto contract = family->contract(setup);
    if (!contract) return {};
    return *contract;
  };
  return CaseSource(scope);
}

TEST(CaseSource, SweepsEverySizeOfTheEdges) {
  const CaseSource source = source_with({});
  std::set<std::uint32_t> sinks;
  std::set<std::uint32_t> recents;
  std::set<std::uint32_t> middles;
  std::size_t requested = 0;
  for (std::uint64_t i = 0; i < 200; ++i) {
    const kv::properties::Setup setup = source.at(i).value().setup;
    if (setup.budget == 64) {
      ++requested;
      continue;
    }
    sinks.insert(setup.sinks);
    recents.insert(setup.recent);
    middles.insert(setup.budget - setup.sinks - setup.recent);
  }
  EXPECT_THAT(sinks, testing::ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(recents, testing::IsSupersetOf({1, 2, 3, 4}));
  EXPECT_THAT(middles, testing::IsSupersetOf({1, 2, 3, 4}));
  EXPECT_EQ(requested, 12U);
}

TEST(CaseSource, StreamsAreLongerThanSlack) {
  const auto family = make_spec_family(*parse_spec("streaming:sinks=2,recent=6;timing=lazy:50"));
  CaseScope scope{.wants = {}, .requested = family->requested(), .contract = {}};
  scope.contract = [&](const kv::properties::Setup& setup) -> std::optional<Contract> {
    auto contract = family->contract(setup);
    if (!contract) return {};
    return *contract;
  };
  const CaseSource source(scope);
  int evicts = 0;
  for (std::uint64_t i = 0; i < 100; ++i) {
    const Case what = source.at(i).value();
    evicts += what.tokens() > what.setup.budget + 50 ? 1 : 0;
  }
  EXPECT_GT(evicts, 60);
  EXPECT_LT(evicts, 100);
}

TEST(CaseSource, CutsStreamsAtTheEdgesOfTheSizes) {
  const CaseSource source = source_with({});
  std::map<std::string, int> seen;
  for (std::uint64_t i = 0; i < 400; ++i) {
    const Case what = source.at(i).value();
    const kv::properties::Setup& setup = what.setup;
    const std::uint64_t tokens = what.tokens();
    seen["wraps"] += (tokens > std::uint64_t{2} * setup.budget) ? 1 : 0;
    seen["exact"] += (tokens == setup.budget) ? 1 : 0;
    seen["one over"] += (tokens == setup.budget + 1) ? 1 : 0;
    seen["one under"] += (tokens + 1 == setup.budget) ? 1 : 0;
    seen["below sinks"] += (tokens < setup.sinks) ? 1 : 0;
    seen["nothing first"] += (what.calls.front().amount == 0) ? 1 : 0;
    seen["one chunk"] += (what.calls.size() == 1 && tokens > setup.budget) ? 1 : 0;
    bool single = true;
    bool window = false;
    bool over_window = false;
    bool over_budget = false;
    for (const Call& call : what.calls) {
      single = single && call.amount <= 1;
      window = window || call.amount == setup.recent;
      over_window = over_window || call.amount == setup.recent + 1;
      over_budget = over_budget || call.amount == setup.budget + 1;
    }
    seen["single"] += single ? 1 : 0;
    seen["window"] += window ? 1 : 0;
    seen["over window"] += over_window ? 1 : 0;
    seen["over budget"] += over_budget ? 1 : 0;
  }
  EXPECT_GT(seen["wraps"], 200);
  EXPECT_LT(seen["wraps"], 360);
  for (const char* edge : {"exact", "one over", "one under", "below sinks", "nothing first",
                           "one chunk", "single", "window", "over window", "over budget"}) {
    EXPECT_GE(seen[edge], 4) << edge;
  }
}

TEST(CaseSource, DrawsEveryStreamKindWithPlantsEverywhere) {
  const CaseSource source = source_with({});
  std::set<StreamKind> kinds;
  std::set<std::uint32_t> plants;
  for (std::uint64_t i = 0; i < 400; ++i) {
    const Stream stream = source.at(i).value().stream;
    kinds.insert(stream.kind);
    if (stream.kind == StreamKind::hitter) plants.insert(stream.planted);
  }
  EXPECT_EQ(kinds.size(), stream_kinds().size());
  EXPECT_GT(plants.size(), 12U);
}

TEST(CaseSource, PutsInWhatIsRequested) {
  const CaseSource source = source_with({.forks = true,
                                         .truncates = true,
                                         .resets = true,
                                         .reorders = true,
                                         .shifts = true,
                                         .snapshots = true,
                                         .several_layers = true,
                                         .several_heads = true,
                                         .several_sequences = true});
  std::map<Kind, int> cases;
  std::set<std::int32_t> variants;
  int hostile = 0;
  int layers = 0;
  int groups = 0;
  for (std::uint64_t i = 0; i < 100; ++i) {
    const Case what = source.at(i).value();
    std::set<Kind> kinds;
    for (const Call& call : what.calls) {
      kinds.insert(call.kind);
      variants.insert(call.variant);
      const bool is_hostile = call.amount < 0 || call.amount > (std::int64_t{1} << 32);
      hostile += (call.kind == Kind::truncate && is_hostile) ? 1 : 0;
    }
    for (const Kind kind : kinds) ++cases[kind];
    layers += (what.setup.layers > 1) ? 1 : 0;
    groups += (what.setup.group > 1) ? 1 : 0;
    EXPECT_LE(what.setup.layers * what.setup.kv_heads * what.setup.sequences, most_units);
  }
  for (const Kind kind :
       {Kind::fork, Kind::truncate, Kind::reset, Kind::reorder, Kind::shift, Kind::snapshot}) {
    EXPECT_GT(cases[kind], 50) << static_cast<int>(kind);
  }
  EXPECT_GT(variants.size(), 3U);
  EXPECT_GT(hostile, 5);
  EXPECT_GT(layers, 50);
  EXPECT_GT(groups, 20);
}

TEST(CaseSource, GivesTheSameCaseForTheSameIndexAndOthersForOtherSeeds) {
  const CaseSource source = source_with({});
  EXPECT_EQ(source.at(17).value(), source_with({}).at(17).value());
  int same = 0;
  for (std::uint64_t i = 0; i < 20; ++i) {
    same += (source.at(i).value() == source_with({}, true, 2).at(i).value()) ? 1 : 0;
  }
  EXPECT_LE(same, 1);
}

TEST(CaseSource, KeepsToTheRequestedSetupOfASubjectWithoutOthers) {
  const CaseSource source = source_with({.several_layers = true}, false);
  for (std::uint64_t i = 0; i < 20; ++i) {
    const kv::properties::Setup setup = source.at(i).value().setup;
    EXPECT_EQ(setup.sinks, 4U);
    EXPECT_EQ(setup.recent, 28U);
    EXPECT_EQ(setup.budget, 64U);
    EXPECT_EQ(setup.layers, 1U);
  }
}

// The cases of a source whose every case is long.
CaseSource long_source(const Length& length,
                       std::uint32_t longest_chunk = 0,
                       std::uint32_t first_chunk = 0) {
  CaseScope scope{.wants = {.several_layers = true, .several_heads = true},
                  .requested = {.sinks = 4, .recent = 28, .budget = 64},
                  .contract = {},
                  .length = [length](std::uint64_t) { return length; }};
  scope.contract = [=](const kv::properties::Setup& setup) -> std::optional<Contract> {
    if (setup.sinks + setup.recent > setup.budget || setup.budget == 0) return {};
    Contract contract;
    contract.sinks = setup.sinks;
    contract.recent = setup.recent;
    contract.budget = setup.budget;
    contract.longest_chunk = longest_chunk;
    contract.first_chunk = first_chunk;
    return contract;
  };
  return CaseSource(scope);
}

TEST(CaseSource, LongCasesReachTheirLengthInEachWay) {
  for (const auto way :
       {Length::Way::decode, Length::Way::edges, Length::Way::wide, Length::Way::room}) {
    const CaseSource source = long_source({300, way});
    const CaseSource short_chunks = long_source({300, way}, 4);
    const CaseSource prompts = long_source({300, way}, 4, 40);
    for (std::uint64_t i = 0; i < 20; ++i) {
      const Case what = source.at(i).value();
      EXPECT_GE(what.tokens(), 300U);
      EXPECT_LE(what.tokens(), 600U);
      EXPECT_LE(what.setup.layers * what.setup.query_heads() * what.setup.sequences, 4U);
      const bool room = way == Length::Way::room;
      EXPECT_EQ(what.setup.budget >= 63, room) << what.setup.budget;
      EXPECT_TRUE(!room || 2 * what.setup.budget <= 300) << what.setup.budget;
      const Case cut = short_chunks.at(i).value();
      for (const Call& call : cut.calls) EXPECT_LE(call.amount, 4);
      const Case prompted = prompts.at(i).value();
      bool begun = false;
      for (const Call& call : prompted.calls) {
        if (call.kind != Kind::feed) continue;
        EXPECT_LE(call.amount, begun ? 4 : 40);
        begun |= call.amount > 0;
      }
    }
  }
}

TEST(CaseSource, LongCasesCrossTheEdgesTokenByToken) {
  const Case edges = long_source({1030, Length::Way::edges}).at(3).value();
  std::set<std::int64_t> single;  // positions fed in a call of their own
  std::int64_t at = 0;
  for (const Call& call : edges.calls) {
    if (call.amount == 1) single.insert(at);
    at += call.amount;
  }
  for (const std::int64_t edge : {64, 100, 128, 256, 500, 512, 1000, 1024}) {
    EXPECT_TRUE(single.contains(edge)) << edge;
    EXPECT_TRUE(single.contains(edge - 1)) << edge;
  }
  EXPECT_LT(edges.calls.size(), 120U);

  const Case wide = long_source({1300, Length::Way::wide}).at(0).value();
  std::set<std::int64_t> widths;
  for (const Call& call : wide.calls) widths.insert(call.amount);
  EXPECT_GT(*widths.rbegin(), 126);

  const Case decode = long_source({300, Length::Way::decode}).at(0).value();
  EXPECT_GT(decode.calls.size(), 290U);
}

TEST(CaseSource, EveryCasePrintsAndParses) {
  const CaseSource source = source_with({.forks = true, .truncates = true, .reorders = true});
  for (std::uint64_t i = 0; i < 100; ++i) {
    const Case what = source.at(i).value();
    const auto parsed = parse_case(what.text());
    ASSERT_TRUE(parsed) << what.text();
    EXPECT_EQ(*parsed, what);
  }
}

}  // namespace
}  // namespace kv::properties
