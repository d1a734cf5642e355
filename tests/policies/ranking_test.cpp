// H2O and TOVA against references that keep a plain list of (position, score).
#include <rapidcheck.h>

#include <algorithm>
#include <map>

#include "kvcheck/policies/attention/h2o.h"
#include "kvcheck/policies/attention/tova.h"
#include "kvcheck/policies/parts/by_rank.h"
#include "kvcheck/policies/policy.h"
#include "kvcheck/tests/policies/draws.h"
#include "kvcheck/tests/policies/mini_cache.h"

namespace kv {
namespace {

using Kept = std::vector<Position>;

// A row over n residents: n of these, eighths so that sums are exact and ties are common.
std::vector<float> draw_row(std::size_t n) {
  const auto eighths =
      *rc::gen::container<std::vector<int>>(n, rc::gen::resize(100, rc::gen::inRange(0, 4)));
  std::vector<float> row;
  for (const int value : eighths) row.push_back(static_cast<float>(value) / 8);
  return row;
}

void observe(MiniCache& cache, Policy& policy, const std::vector<float>& row) {
  cache.append();
  policy.observe({cache.seen - 1, row});
}

// What a position has been given, and in how many rows.
struct Gathered {
  double sum = 0;
  double rows = 0;
  double last = 0;
};

using Score = double (*)(const Gathered&);

// Evicts the token of the middle with the lowest score, the older among equals, until `capacity`
// are left.
void trim_by_hand(Kept& residents,
                  const MiniCache& shape,
                  std::map<Position, Gathered>& gathered,
                  Score score) {
  while (residents.size() > shape.sinks + shape.capacity + shape.recent) {
    const auto begin = residents.begin() + static_cast<std::ptrdiff_t>(shape.sinks);
    const auto end = residents.end() - static_cast<std::ptrdiff_t>(shape.recent);
    const auto victim = std::min_element(begin, end, [&](Position a, Position b) {
      return score(gathered[a]) < score(gathered[b]);
    });
    residents.erase(victim);
  }
}

MiniCache draw_shape() {
  const auto size = [](std::size_t low, std::size_t high) {
    return *rc::gen::resize(100, rc::gen::inRange<std::size_t>(low, high));
  };
  return {.sinks = size(0, 3), .recent = size(0, 4), .capacity = size(1, 6)};
}

// Random shapes, chunks and rows: the policy keeps what the reference keeps after every chunk.
void agrees_with_reference(Policy& policy, Score score) {
  MiniCache cache = draw_shape();
  std::map<Position, Gathered> gathered;
  Kept expected;
  ScriptedDraws draws;
  const auto chunk_size = rc::gen::resize(100, rc::gen::inRange<std::size_t>(1, 8));
  const auto chunks =
      *rc::gen::resize(20, rc::gen::container<std::vector<std::size_t>>(chunk_size));
  for (const std::size_t chunk : chunks) {
    for (std::size_t i = 0; i < chunk; ++i) {
      expected.push_back(cache.seen);
      const auto row = draw_row(expected.size());
      observe(cache, policy, row);
      for (std::size_t rank = 0; rank < row.size(); ++rank) {
        Gathered& of = gathered[expected[rank]];
        of = {of.sum + static_cast<double>(row[rank]), of.rows + 1, static_cast<double>(row[rank])};
      }
    }
    cache.trim(policy, draws, policy.leaving());
    trim_by_hand(expected, cache, gathered, score);
    RC_ASSERT(cache.residents == expected);
  }
}

TEST(H2o, KeepsWhatABruteForceListKeeps) {
  EXPECT_TRUE(rc::check([] {
    agrees_with_reference(*make_h2o(Normalise::none), [](const Gathered& of) { return of.sum; });
  }));
}

TEST(H2o, NormalisedByAgeKeepsWhatABruteForceListKeeps) {
  EXPECT_TRUE(rc::check([] {
    agrees_with_reference(*make_h2o(Normalise::age),
                          [](const Gathered& of) { return of.sum / of.rows; });
  }));
}

TEST(Tova, KeepsWhatABruteForceListKeeps) {
  EXPECT_TRUE(rc::check(
      [] { agrees_with_reference(*make_tova(), [](const Gathered& of) { return of.last; }); }));
}

// The claim of policies/parts/by_rank.h, ties included.
TEST(Rankings, LeaveTheSameTokensInBulkAndOneByOne) {
  EXPECT_TRUE(rc::check([] {
    for (const auto& make :
         {+[] { return make_h2o(Normalise::none); }, +[] { return make_h2o(Normalise::age); },
          +[] { return make_tova(); }}) {
      MiniCache bulk = draw_shape();
      MiniCache single = bulk;
      const auto in_bulk = make();
      const auto one_by_one = make();
      ScriptedDraws draws;
      for (int chunk = 0; chunk < 3; ++chunk) {
        const auto tokens = *rc::gen::resize(100, rc::gen::inRange(1, 12));
        for (int i = 0; i < tokens; ++i) {
          const auto row = draw_row(bulk.residents.size() + 1);
          observe(bulk, *in_bulk, row);
          observe(single, *one_by_one, row);
        }
        bulk.trim(*in_bulk, draws, Leaving::in_bulk);
        single.trim(*one_by_one, draws, Leaving::one_by_one);
        RC_ASSERT(bulk.residents == single.residents);
      }
    }
  }));
}

// Even attention over everything visible, token by token.
Kept kept_under_even_attention(Policy& policy, std::size_t capacity, std::size_t tokens) {
  MiniCache cache{.recent = 1, .capacity = capacity};
  ScriptedDraws draws;
  for (std::size_t i = 0; i < tokens; ++i) {
    const std::size_t n = cache.residents.size() + 1;
    observe(cache, policy, std::vector<float>(n, 1.0F / static_cast<float>(n)));
    cache.trim(policy, draws, policy.leaving());
  }
  return cache.residents;
}

TEST(H2o, FreezesOnTheOldestTokensUnderEvenAttention) {
  EXPECT_EQ(kept_under_even_attention(*make_h2o(Normalise::none), 4, 40), (Kept{0, 1, 2, 3, 39}));
}

// After forty even rows a token arrives that gets half of the attention, twice. Its sum is small
// beside what the old ones have gathered by being there; its average is not.
Kept kept_after_a_heavy_newcomer(Policy& policy) {
  MiniCache cache{.recent = 1, .capacity = 4};
  ScriptedDraws draws;
  for (std::size_t i = 0; i < 42; ++i) {
    const std::size_t n = cache.residents.size() + 1;
    std::vector<float> row(n, 1.0F / static_cast<float>(n));
    if (i >= 40) {
      row.assign(n, 0.5F / static_cast<float>(n - 1));
      row[n - 1 - (i - 40)] = 0.5F;
    }
    observe(cache, policy, row);
    cache.trim(policy, draws, policy.leaving());
  }
  return cache.residents;
}

TEST(H2o, LetsAHeavyNewcomerInOnlyWhenNormalisedByAge) {
  EXPECT_EQ(kept_after_a_heavy_newcomer(*make_h2o(Normalise::none)), (Kept{0, 1, 2, 3, 41}));
  EXPECT_EQ(kept_after_a_heavy_newcomer(*make_h2o(Normalise::age)), (Kept{0, 1, 2, 40, 41}));
}

TEST(H2o, SumsBeyondWhatAFloatCouldHold) {
  const auto policy = make_h2o(Normalise::none);
  MiniCache cache{.recent = 1, .capacity = 1};
  ScriptedDraws draws;
  observe(cache, *policy, {1.0F});
  observe(cache, *policy, {0.0F, 1.0F});
  // 2^25 + 2 against 2^25 + 1: as floats they are equal, and the older would go.
  policy->observe({1, std::vector<float>{0x1p25F, 0x1p25F}});
  policy->observe({1, std::vector<float>{1.0F, 0.0F}});
  observe(cache, *policy, {0.0F, 0.0F, 1.0F});
  cache.trim(*policy, draws, policy->leaving());
  EXPECT_EQ(cache.residents, (Kept{0, 2}));
}

TEST(Tova, MayDropTheNewestTokenAtOnce) {
  const auto policy = make_tova();
  MiniCache cache{.capacity = 2};
  ScriptedDraws draws;
  observe(cache, *policy, {1.0F});
  observe(cache, *policy, {0.5F, 0.5F});
  observe(cache, *policy, {0.5F, 0.375F, 0.125F});
  cache.trim(*policy, draws, policy->leaving());
  EXPECT_EQ(cache.residents, (Kept{0, 1}));
}

TEST(Tova, DropsTheOldestAmongEquals) {
  EXPECT_EQ(kept_under_even_attention(*make_tova(), 3, 10), (Kept{6, 7, 8, 9}));
}

TEST(Tova, RefusesCandidatesThatNoQuerySaw) {
  const auto policy = make_tova();
  ScriptedDraws draws;
  MiniCache cache{.capacity = 1};
  cache.append();
  cache.append();
  EXPECT_DEATH(cache.trim(*policy, draws, Leaving::in_bulk), "first_rank");
}

TEST(AppendLowest, AgreesWithSortingAtEverySizeAndCount) {
  EXPECT_TRUE(rc::check([] {
    const auto row = draw_row(*rc::gen::resize(100, rc::gen::inRange<std::size_t>(1, 70)));
    const auto count = *rc::gen::resize(100, rc::gen::inRange<std::size_t>(0, row.size() + 1));
    const std::vector<double> wide(row.begin(), row.end());
    std::vector<std::size_t> expected(row.size());
    for (std::size_t i = 0; i < row.size(); ++i) expected[i] = i;
    std::ranges::stable_sort(expected, {}, [&](std::size_t i) { return row[i]; });
    expected.resize(count);
    std::ranges::sort(expected);

    std::vector<std::size_t> of_floats;
    std::vector<std::size_t> of_doubles;
    append_lowest(row, count, of_floats);
    append_lowest(wide, count, of_doubles);
    RC_ASSERT(of_floats == expected);
    RC_ASSERT(of_doubles == expected);
  }));
}

TEST(EraseRanks, RemovesExactlyThoseAndIgnoresRanksBeyondTheEnd) {
  EXPECT_TRUE(rc::check([](const std::vector<bool>& gone) {
    std::vector<int> values;
    std::vector<int> expected;
    std::vector<std::size_t> ranks;
    const std::size_t known = gone.size() - gone.size() / 4;
    for (std::size_t i = 0; i < gone.size(); ++i) {
      if (gone[i]) ranks.push_back(i);
      if (i >= known) continue;
      values.push_back(static_cast<int>(i));
      if (!gone[i]) expected.push_back(static_cast<int>(i));
    }
    erase_ranks(values, ranks);
    RC_ASSERT(values == expected);
  }));
}

TEST(ByRank, ANaNIsEvictedLast) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> scores(100, nan);
  std::vector<std::size_t> victims;
  append_lowest(scores, 1, victims);
  EXPECT_EQ(victims, (std::vector<std::size_t>{0}));
  for (std::size_t i = 3; i < scores.size(); i += 4) scores[i] = static_cast<float>(i % 5);
  const std::vector<double> wide(scores.begin(), scores.end());
  for (const std::size_t count : {1U, 2U, 25U, 26U, 100U}) {
    std::vector<std::size_t> of_floats, of_doubles;
    append_lowest(scores, count, of_floats);
    append_lowest(wide, count, of_doubles);
    ASSERT_EQ(of_floats, of_doubles) << count;
    ASSERT_EQ(of_floats.size(), count);
    const auto numbers = std::ranges::count_if(of_floats, [](std::size_t i) { return i % 4 == 3; });
    ASSERT_EQ(numbers, std::min<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(count), 25));
  }
}

}  // namespace
}  // namespace kv
