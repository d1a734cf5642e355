// budgets=adaptive: the heads of a layer keep together what equal budgets keep, and share it by
// score.
#include <algorithm>
#include <numeric>

#include "kvcheck/sim/cache/budget_pool.h"
#include "kvcheck/sim/cache/visible_limits.h"
#include "kvcheck/sim/replay/replay.h"
#include "kvcheck/tests/sim/listed.h"
#include "kvcheck/tests/sim/memory_trace.h"

namespace kv {
namespace {

using testing::HasSubstr;

std::string refusal(const std::string& words) {
  const auto spec = parse_spec(words);
  return spec ? "parsed" : spec.error().message;
}

TEST(SharedBudgets, AreReadAndPrinted) {
  for (const std::string alpha : {"0", "0.2", "0.125", "1"}) {
    const Spec spec = parse_spec("h2o;budgets=adaptive:" + alpha).value();
    EXPECT_EQ(spec.budgets.text(), "adaptive:" + alpha);
    EXPECT_EQ(parse_spec(spec.canonical()).value(), spec);
  }
  EXPECT_EQ(parse_spec("tova;budgets=adaptive:.50").value().label(), "tova;budgets=adaptive:0.5");
}

TEST(SharedBudgets, AreRefusedWhereTheyMeanNothing) {
  EXPECT_THAT(refusal("h2o;budgets=adaptive"), HasSubstr("as in adaptive:0.2"));
  EXPECT_THAT(refusal("h2o;budgets=adaptiv:0.2"), HasSubstr("unknown budgets"));
  EXPECT_THAT(refusal("h2o;budgets=adaptive:1.5"), HasSubstr("the alpha of budgets=adaptive"));
  EXPECT_THAT(refusal("h2o;budgets=adaptive:0.1234"), HasSubstr("at most three decimals"));
  EXPECT_THAT(refusal("dense;budgets=adaptive:0.2"), HasSubstr("dense has none"));
  EXPECT_THAT(refusal("streaming;budgets=adaptive:0.2"), HasSubstr("streaming has none"));
  EXPECT_THAT(refusal("h2o;unit=layer;budgets=adaptive:0.2"), HasSubstr("unit=layer cannot"));
  EXPECT_THAT(refusal("h2o;unit=model;budgets=adaptive:0.2"), HasSubstr("unit=model cannot"));
  EXPECT_THAT(refusal("h2o;unit=head;positions=in-cache;budgets=adaptive:0.2"), "parsed");
  const std::string lengths = refusal("key-norm;budgets=adaptive:0.2");
  EXPECT_THAT(lengths, HasSubstr("key-norm has no comparable scores"));
  for (const char* policy : {"h2o", "a2sf", "tova", "snapkv", "keyformer", "expected-attention"}) {
    EXPECT_THAT(lengths, HasSubstr(policy));
    EXPECT_EQ(refusal(std::string(policy) + ";budgets=adaptive:0.2"), "parsed");
  }
  EXPECT_THAT(refusal("random;budgets=adaptive:0.2"), HasSubstr("no comparable scores"));
  EXPECT_THAT(refusal("h2o:form=flexgen;budgets=adaptive:0.2"),
              HasSubstr("h2o with form=flexgen has no comparable scores, which it has by default"));
}

// alpha m is taken as it is written: 0.29 of 100 is 29, though not in binary.
TEST(SharedBudgets, HaveExactFloors) {
  const auto floor = [](const std::string& words) {
    return adaptive_floor(parse_spec(words).value());
  };
  EXPECT_EQ(floor("h2o:recent=20,budget=120;budgets=adaptive:0.29"), 29U);
  EXPECT_EQ(floor("h2o:recent=20,budget=119;budgets=adaptive:0.29"), 28U);
  EXPECT_EQ(floor("h2o:recent=0,budget=10;budgets=adaptive:0.7"), 7U);
  EXPECT_EQ(floor("h2o:recent=0,budget=4;budgets=adaptive:0.2"), 0U);
  const Spec spec = parse_spec("h2o:recent=4,budget=14;budgets=adaptive:0.2").value();
  EXPECT_EQ(adaptive_most(spec, {2, 3, 2}), 3 * 10U - 2 * 2U);
  EXPECT_EQ(roomiest_unit_spec(spec, {2, 3, 2}, {0, 1}).budget, 4U + 26U);
  EXPECT_EQ(adaptive_most(parse_spec("h2o:budget=2147483647;budgets=adaptive:0").value(), {1, 8}),
            0x7fffffffU - 1073741823U);
}

// Heads of a layer differ: head h spreads its attention the more, the larger h is.
Trace uneven_trace(std::size_t tokens = 80) {
  const MemoryShape shape = {.tokens = tokens, .layers = 2, .query_heads = 6, .kv_heads = 3};
  return attention_trace(
      shape, [](std::size_t layer, std::size_t head, std::size_t query, std::size_t key) {
        if (key > query) return 0.0;
        const double noise = 1 + static_cast<double>((key * 29 + query * 13 + layer * 7) % 17) / 8;
        return key % (2 + head) == 0 ? noise : 0.02 * noise * static_cast<double>(1 + head);
      });
}

CellResult replayed(const Trace& trace,
                    const std::string& words,
                    const ReplayOptions& options = {}) {
  const std::vector<Cell> cells = {{parse_spec(words).value(), 1}};
  auto result = replay(trace, cells, options);
  EXPECT_TRUE(result) << words << ": " << result.error().message;
  return std::move(result->cells.front());
}

TEST(SharedBudgets, OfALayerAreTogetherThoseOfEqualOnes) {
  for (const std::string unit : {"", ";unit=head"}) {
    for (const std::string setting :
         {"", ";chunk=7", ";timing=lazy:5;chunk=3", ";timing=trim-then-attend",
          ";timing=trim-then-attend;chunk=9", ";visibility=window;chunk=4",
          ";visibility=window;timing=lazy:6"}) {
      const std::string words = "h2o:sinks=1,recent=4,budget=14" + unit + setting;
      const Trace trace = uneven_trace();
      const CellResult equal = replayed(trace, words);
      const CellResult shared = replayed(trace, words + ";budgets=adaptive:0.2");
      const std::size_t heads = equal.units.size() / 2;
      bool differ = false;
      for (std::size_t layer = 0; layer < 2; ++layer) {
        double stored[2] = {0, 0};
        double visible[2] = {0, 0};
        std::uint64_t kept[2] = {0, 0};
        for (std::size_t i = layer * heads; i < (layer + 1) * heads; ++i) {
          stored[0] += equal.units[i].stored_mean;
          stored[1] += shared.units[i].stored_mean;
          visible[0] += equal.units[i].visible_mean;
          visible[1] += shared.units[i].visible_mean;
          kept[0] += equal.units[i].kept_at_end;
          kept[1] += shared.units[i].kept_at_end;
          EXPECT_GE(shared.units[i].kept_at_end, 1 + 4 + 1U) << words;
          differ |= shared.units[i].kept_at_end != equal.units[i].kept_at_end;
        }
        EXPECT_NEAR(stored[0], stored[1], 1e-9) << words;
        EXPECT_NEAR(visible[0], visible[1], 1e-9) << words;
        EXPECT_EQ(kept[0], kept[1]) << words;
      }
      EXPECT_TRUE(differ) << words;
      for (std::size_t i = 0; i < equal.series.size(); ++i) {
        EXPECT_EQ(equal.series[i].stored, shared.series[i].stored) << words;
        EXPECT_EQ(equal.series[i].kept, shared.series[i].kept) << words;
        EXPECT_EQ(equal.series[i].visible, shared.series[i].visible) << words;
      }
    }
  }
}

// Even heads attend to four tokens, odd ones to every third alike: odd heads gain more
// from each row.
TEST(SharedBudgets, RetainMoreThanEqualOnesWhereHeadsDiffer) {
  const Trace trace = attention_trace(
      {.tokens = 120}, [](auto, std::size_t head, std::size_t query, std::size_t key) {
        if (key > query) return 0.0;
        const bool heavy = head % 2 == 0 ? key < 4 : key % 3 == 0;
        return heavy ? 1.0 : 0.001;
      });
  const auto retained = [&](const std::string& budgets) {
    double sum = 0;
    for (const HeadResult& head :
         replayed(trace, "h2o:recent=4,budget=20,normalise=age;unit=head" + budgets).heads) {
      sum += head.metrics.retained_mass / 8;
    }
    return sum;
  };
  EXPECT_GT(retained(";budgets=adaptive:0.2"), retained("") + 0.04);
}

bool same(const CellResult& a, const CellResult& b) {
  for (std::size_t i = 0; i < a.heads.size(); ++i) {
    const HeadMetrics& left = a.heads[i].metrics;
    const HeadMetrics& right = b.heads[i].metrics;
    if (left.retained_mass != right.retained_mass || left.kl_to_dense != right.kl_to_dense) {
      return false;
    }
  }
  return a.heads.size() == b.heads.size() && a.kept == b.kept && a.lifetimes == b.lifetimes;
}

TEST(SharedBudgets, AreEqualOnesWhereNothingIsShared) {
  const Trace trace = uneven_trace();
  const Trace one_head = attention_trace(
      {.query_heads = 2, .kv_heads = 1}, [](auto, auto, std::size_t query, std::size_t key) {
        return key <= query ? 1.0 + static_cast<double>(key * 7 % 5) : 0.0;
      });
  for (const std::string policy :
       {"h2o:sinks=1,recent=4,budget=14", "h2o:recent=4,budget=14,normalise=age;unit=head",
        "tova:recent=2,budget=12", "snapkv:recent=3,budget=14,window=8",
        "snapkv:recent=3,budget=14,window=8,select=once", "keyformer:recent=3,budget=12",
        "keyformer:recent=3,budget=12,select=once"}) {
    for (const std::string setting : {";chunk=6", ";timing=lazy:5", ";timing=trim-then-attend"}) {
      const std::string words = policy + setting;
      const CellResult equal = replayed(trace, words);
      EXPECT_TRUE(same(equal, replayed(trace, words + ";budgets=adaptive:1"))) << words;
      EXPECT_FALSE(same(equal, replayed(trace, words + ";budgets=adaptive:0"))) << words;
      if (policy.ends_with("unit=head")) continue;
      EXPECT_TRUE(
          same(replayed(one_head, words), replayed(one_head, words + ";budgets=adaptive:0")))
          << words;
    }
  }
}

TEST(SharedBudgets, ChangeNoOtherCellOfTheRun) {
  const Trace trace = uneven_trace();
  std::vector<Cell> cells;
  for (const char* words : {"h2o:recent=4,budget=14", "h2o:recent=4,budget=14;budgets=adaptive:0.2",
                            "tova:budget=10;unit=head;budgets=adaptive:0.2;chunk=5",
                            "random:recent=4,budget=12", "tova:budget=10;unit=layer"}) {
    cells.push_back({parse_spec(words).value(), 3});
  }
  ReplayOptions options;
  options.threads = 1;
  const auto together = replay(trace, cells, options);
  options.threads = 5;
  const auto threads = replay(trace, cells, options);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const auto alone = replay(trace, std::span(cells).subspan(i, 1), options);
    EXPECT_TRUE(same(alone->cells[0], together->cells[i])) << i;
    EXPECT_TRUE(same(threads->cells[i], together->cells[i])) << i;
    for (std::size_t point = 0; point < together->cells[i].series.size(); ++point) {
      EXPECT_EQ(alone->cells[0].series[point].kl_to_dense,
                together->cells[i].series[point].kl_to_dense);
    }
  }
}

TEST(SharedBudgets, StayBelowTheOracleOfTheLargestShare) {
  ReplayOptions options;
  options.oracle = true;
  for (const std::string setting : {"", ";chunk=7", ";timing=lazy:9;chunk=4",
                                    ";timing=trim-then-attend;chunk=5", ";visibility=window"}) {
    for (const std::string policy : {"h2o:recent=4,budget=12", "tova:recent=1,budget=9"}) {
      const std::string words = policy + ";unit=head;budgets=adaptive:0.2" + setting;
      const CellResult cell = replayed(uneven_trace(60), words, options);
      ASSERT_EQ(cell.bounds.size(), cell.heads.size());
      for (std::size_t i = 0; i < cell.bounds.size(); ++i) {
        EXPECT_LE(cell.heads[i].metrics.retained_mass, cell.bounds[i].optimum + 3e-6) << words;
        EXPECT_LE(cell.bounds[i].optimum, cell.bounds[i].per_step + 1e-9);
        EXPECT_TRUE(std::isnan(cell.bounds[i].greedy)) << words;
        EXPECT_LE(cell.units[i].visible_peak,
                  std::ranges::max(
                      visible_limits(roomiest_unit_spec(cell.cell.spec, {2, 3, 2}, {}), 60)));
      }
    }
  }
}

// Two caches of a layer that see different attention.
struct SharingLayer {
  explicit SharingLayer(const std::string& words) {
    const Spec spec = parse_spec(words).value();
    for (int i = 0; i < 2; ++i) {
      caches.emplace_back(spec, std::make_unique<CounterDraws>(Rng(1)));
    }
  }

  std::vector<std::vector<Position>> feed(std::size_t tokens) {
    BudgetPool pool;
    for (UnitCache& cache : caches) pool.add(cache);
    pool.begin_chunk(tokens);
    for (std::size_t i = 0; i < tokens; ++i) {
      pool.before_query();
      for (std::size_t head = 0; head < 2; ++head) {
        const auto seen = listed(caches[head].next_query());
        std::vector<float> mass;
        for (const Position p : seen) {
          const bool heavy = p % (head == 0 ? 2 : 16) == 0;
          mass.push_back(heavy ? 1.0F : 0.01F);
        }
        const float sum = std::accumulate(mass.begin(), mass.end(), 0.0F);
        for (float& each : mass) each /= sum;
        caches[head].observe({.mass = mass});
      }
    }
    pool.end_chunk();
    std::vector<std::vector<Position>> kept;
    for (UnitCache& cache : caches) {
      kept.push_back(listed(cache.all()));
      cache.clear_evicted();
    }
    return kept;
  }

  std::vector<UnitCache> caches;
};

TEST(SharedBudgets, GoOnAlikeAfterForksAndSaves) {
  const std::string words = "h2o:sinks=1,recent=3,budget=12;timing=lazy:2;budgets=adaptive:0.2";
  SharingLayer layer(words);
  for (int i = 0; i < 12; ++i) layer.feed(3);
  EXPECT_NE(layer.caches[0].residents(), layer.caches[1].residents());

  SharingLayer forked(words);
  SharingLayer loaded(words);
  std::vector<UnitCache> forks;
  for (std::size_t head = 0; head < 2; ++head) {
    forks.push_back(layer.caches[head].fork(std::make_unique<CounterDraws>(Rng(1))));
    ByteWriter writer;
    layer.caches[head].save(writer);
    ByteReader reader(writer.bytes());
    loaded.caches[head].load(reader);
    EXPECT_TRUE(reader.finished());
  }
  forked.caches = std::move(forks);
  for (const std::size_t tokens : {1U, 4U, 2U, 1U, 6U}) {
    const auto kept = layer.feed(tokens);
    EXPECT_EQ(forked.feed(tokens), kept);
    EXPECT_EQ(loaded.feed(tokens), kept);
    EXPECT_EQ(layer.caches[0].counts(), loaded.caches[0].counts());
  }
}

TEST(SharedBudgetsDeathTest, ADeciderAloneIsABug) {
  SharingLayer layer("h2o:recent=3,budget=12;budgets=adaptive:0.2");
  EXPECT_DEATH(layer.caches[0].begin_chunk(1), "shares");
}

}  // namespace
}  // namespace kv
