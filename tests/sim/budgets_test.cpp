// How budgets are dealt over layers and heads: exactly, down to the last row.
#include "kvcheck/sim/spec/budgets.h"

#include <numeric>

#include "kvcheck/sim/replay/replay.h"
#include "kvcheck/sim/spec/spec.h"
#include "kvcheck/tests/sim/memory_trace.h"

namespace kv {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string refusal(const std::string& words) {
  const auto spec = parse_spec(words);
  return spec ? "parsed" : spec.error().message;
}

TEST(Pyramid, FallsInEvenSteps) {
  EXPECT_THAT(pyramid(10, 2, 3), ElementsAre(15, 10, 5));
  EXPECT_THAT(pyramid(20, 20, 2), ElementsAre(39, 1));
  EXPECT_THAT(pyramid(7, 1, 4), ElementsAre(7, 7, 7, 7));
  EXPECT_THAT(pyramid(9, 20, 1), ElementsAre(9));
  EXPECT_THAT(pyramid(0, 20, 3), ElementsAre(0, 0, 0));
  // 17.5, 12.5, 7.5, 2.5: what is left goes to the lowest two.
  EXPECT_THAT(pyramid(10, 4, 4), ElementsAre(18, 13, 7, 2));
}

// The source's code rounds every step down: of 32 layers of 120 it keeps 3,714 of 3,840.
TEST(Pyramid, KeepsExactlyWhatEqualBudgetsKeep) {
  for (const std::uint32_t total : {0U, 1U, 2U, 5U, 63U, 120U, 1000U, 0x7fffffffU}) {
    for (const std::uint32_t beta : {1U, 2U, 3U, 20U, 1000U}) {
      for (const std::size_t layers : {1U, 2U, 3U, 7U, 32U, 126U}) {
        const auto shares = pyramid(total, beta, layers);
        const auto sum = std::accumulate(shares.begin(), shares.end(), std::uint64_t{0});
        EXPECT_EQ(sum, std::uint64_t{total} * layers) << total << " " << beta << " " << layers;
        EXPECT_TRUE(std::ranges::is_sorted(shares, std::greater())) << total << " " << beta;
        for (std::size_t l = 0; l < layers && layers > 1; ++l) {
          const double share = total * (2 - 1.0 / beta) - total * (2 - 2.0 / beta) *
                                                              static_cast<double>(l) /
                                                              static_cast<double>(layers - 1);
          EXPECT_LT(std::abs(shares[l] - share), 1 + 1e-6 * total);
        }
      }
    }
  }
}

TEST(Budgets, AreReadAndPrinted) {
  for (const std::string word : {"equal", "pyramid:20", "retrieval:0.1+2.0"}) {
    const Spec spec = parse_spec("h2o;budgets=" + word).value();
    EXPECT_EQ(spec.budgets.text(), word);
    EXPECT_EQ(parse_spec(spec.canonical()).value(), spec);
  }
  EXPECT_EQ(parse_spec("h2o;budgets=retrieval:2.0+0.1").value().label(),
            "h2o;budgets=retrieval:0.1+2.0");
}

TEST(Budgets, AreRefusedWhereTheyCannotBeDealt) {
  EXPECT_THAT(refusal("h2o;budgets=equals"), HasSubstr("unknown budgets 'equals'"));
  EXPECT_THAT(refusal("h2o;budgets=pyramid"), HasSubstr("as in pyramid:20"));
  EXPECT_THAT(refusal("h2o;budgets=pyramid:0"), HasSubstr("the beta of budgets=pyramid"));
  EXPECT_THAT(refusal("h2o;budgets=retrieval:"), HasSubstr("names no kv-head"));
  EXPECT_THAT(refusal("h2o;budgets=retrieval:1"), HasSubstr("'1' is not a kv-head"));
  EXPECT_THAT(refusal("h2o;budgets=retrieval:0.1+0.1"), HasSubstr("0.1 twice"));
  EXPECT_THAT(refusal("dense;budgets=pyramid:20"), HasSubstr("dense has none"));
  EXPECT_THAT(refusal("streaming;budgets=pyramid:20"), HasSubstr("streaming has none"));
  EXPECT_THAT(refusal("h2o;unit=model;budgets=pyramid:20"), HasSubstr("unit=model cannot"));
  EXPECT_EQ(refusal("h2o;unit=layer;budgets=pyramid:20"), "parsed");
  EXPECT_THAT(refusal("h2o;unit=layer;budgets=retrieval:0.0"), HasSubstr("unit=layer cannot"));
  EXPECT_THAT(refusal("streaming;positions=in-cache;vectors=re-evaluated;budgets=retrieval:0.0"),
              HasSubstr("expected vectors=kept"));
}

// What every unit of a replay stores at most, by layer and head.
std::vector<std::uint64_t> peaks(const std::string& words, std::size_t layers = 3) {
  const Trace trace = attention_trace(
      {.tokens = 60, .layers = layers, .query_heads = 4, .kv_heads = 2},
      [](std::size_t, std::size_t, std::size_t query, std::size_t key) {
        return key <= query ? 1.0 + static_cast<double>((key * 7 + query) % 5) : 0.0;
      });
  const std::vector<Cell> cells = {{parse_spec(words).value(), 1}};
  const auto replayed = replay(trace, cells, {});
  std::vector<std::uint64_t> out;
  for (const UnitResult& unit : replayed.value().cells.front().units) {
    out.push_back(unit.stored_peak);
  }
  return out;
}

// A token is stored before the trim that follows it.
TEST(Budgets, AreWhatUnitsKeep) {
  EXPECT_THAT(peaks("h2o:recent=4,budget=14"), ElementsAre(15, 15, 15, 15, 15, 15));
  EXPECT_THAT(peaks("h2o:recent=4,budget=14;budgets=pyramid:2"),
              ElementsAre(20, 20, 15, 15, 10, 10));
  EXPECT_THAT(peaks("h2o:recent=4,budget=14;unit=layer;budgets=pyramid:2"),
              ElementsAre(20, 15, 10));
  EXPECT_THAT(peaks("streaming:sinks=2,recent=9;budgets=retrieval:0.1+2.0"),
              ElementsAre(12, 60, 12, 12, 60, 12));
  EXPECT_THAT(peaks("streaming:sinks=2,recent=9;unit=head;budgets=retrieval:1.1", 2),
              ElementsAre(12, 12, 12, 12, 12, 12, 60, 60));
}

// A head that keeps everything is dense, whatever the others do.
TEST(Budgets, RetrievalHeadsLoseNothing) {
  const Trace trace = attention_trace({}, [](std::size_t, std::size_t, std::size_t query,
                                             std::size_t key) { return key <= query ? 1.0 : 0.0; });
  const std::vector<Cell> cells = {
      {parse_spec("random:sinks=1,recent=3,budget=9;budgets=retrieval:1.0;chunk=5").value(), 1}};
  const auto replayed = replay(trace, cells, {});
  for (const HeadResult& head : replayed.value().cells.front().heads) {
    if (head.layer == 1 && head.head < 2) {
      EXPECT_NEAR(head.metrics.retained_mass, 1, 1e-6);
    } else {
      EXPECT_LT(head.metrics.retained_mass, 0.9);
    }
  }
}

// Duo's law: where a head streams, it does what it would do were all heads to.
TEST(Budgets, HeadsThatAreNotNamedAreAsIfNoneWere) {
  const Trace trace = attention_trace({}, [](std::size_t layer, std::size_t head, std::size_t query,
                                             std::size_t key) {
    return key <= query ? static_cast<double>(1 + (query * 7 + key * (3 + layer + head)) % 11) : 0;
  });
  for (const std::string spec : {"streaming:sinks=2,recent=9", "h2o:sinks=1,recent=3,budget=9"}) {
    const auto cells_of = [&](const std::string& budgets) {
      const std::vector<Cell> cells = {{parse_spec(spec + ";chunk=4" + budgets).value(), 1}};
      return replay(trace, cells, {}).value().cells.front();
    };
    const CellResult all = cells_of("");
    const CellResult some = cells_of(";budgets=retrieval:0.1");
    std::size_t alike = 0;
    for (std::size_t i = 0; i < all.heads.size(); ++i) {
      if (all.heads[i].layer == 0 && all.heads[i].head / 2 == 1) continue;
      EXPECT_EQ(some.heads[i].metrics.retained_mass, all.heads[i].metrics.retained_mass) << spec;
      EXPECT_LT(all.heads[i].metrics.retained_mass, 0.9) << spec;
      ++alike;
    }
    EXPECT_EQ(alike, all.heads.size() - 2);
  }
}

TEST(Budgets, NameHeadsThatAreThere) {
  const Spec spec = parse_spec("h2o;budgets=retrieval:1.3").value();
  EXPECT_TRUE(check_grid(spec, {2, 4}));
  EXPECT_THAT(check_grid(spec, {2, 3}).error().message,
              HasSubstr("there are 2 layers of 3 kv-heads; expected 0.0 to 1.2"));
}

TEST(Budgets, OfAPyramidLeaveEveryLayerARow) {
  const Spec tight = parse_spec("h2o:sinks=0,recent=0,budget=1;budgets=pyramid:20").value();
  EXPECT_THAT(check_grid(tight, {4, 2}).error().message,
              HasSubstr("leaves some of 4 layers no row"));
  EXPECT_TRUE(check_grid(tight, {1, 2}));
  const Spec kept = parse_spec("h2o:sinks=1,recent=0,budget=2;budgets=pyramid:20").value();
  EXPECT_TRUE(check_grid(kept, {4, 2}));
}

}  // namespace
}  // namespace kv
