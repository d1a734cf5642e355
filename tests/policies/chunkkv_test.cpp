#include "kvcheck/policies/attention/chunkkv.h"

#include <array>

#include "kvcheck/tests/policies/feed.h"

namespace kv {
namespace {

using Kept = std::vector<Position>;

struct Sizes {
  std::size_t length;
  std::size_t window;
  std::size_t capacity;
};

// Even attention up to the last token, which pays as `last` says; the recent window is 1.
Kept kept_by(const Sizes& sizes, const std::vector<float>& last) {
  const auto policy = make_chunkkv(sizes.length, sizes.window);
  ScriptedDraws draws;
  MiniCache cache{.recent = 1, .capacity = sizes.capacity};
  for (std::size_t n = 1; n < last.size(); ++n) {
    feed_row(cache, *policy, draws, std::vector<float>(n, 1.0F / static_cast<float>(n)));
  }
  feed_row(cache, *policy, draws, last);
  return cache.residents;
}

// Chunks 0-2 and 3-5 have .3 and .4; the heaviest token of all, 1, is evicted with its chunk.
TEST(Chunkkv, DropsAChunkWholeWithTheHeaviestTokenInIt) {
  EXPECT_EQ(kept_by({3, 1, 6}, {0, 0.3F, 0, 0.2F, 0.1F, 0.1F, 0, 0.3F}), (Kept{3, 4, 5, 6, 7}));
}

// Chunks 0-2 and 3-5 have .4 and .3; token 6, paid nothing, has no whole chunk yet.
TEST(Chunkkv, KeepsTheRaggedRest) {
  EXPECT_EQ(kept_by({3, 1, 6}, {0.1F, 0.2F, 0.1F, 0.1F, 0.1F, 0.1F, 0, 0.3F}),
            (Kept{0, 1, 2, 6, 7}));
}

TEST(Chunkkv, DropsTheOlderOfEqualChunks) {
  EXPECT_EQ(kept_by({2, 1, 4}, {0.2F, 0.1F, 0.1F, 0.2F, 0.3F, 0.1F}), (Kept{2, 3, 4, 5}));
}

// The last two queries: even fifths, which cancel out, and the last, which pays 2 and 3 more.
TEST(Chunkkv, LetsAllQueriesOfItsWindowVote) {
  const std::vector<float> last = {0.05F, 0.05F, 0.4F, 0.4F, 0.05F, 0.05F};
  EXPECT_EQ(kept_by({2, 2, 4}, last), (Kept{2, 3, 4, 5}));
  // Of the first query's votes, all for token 0, a window of six still knows.
  EXPECT_EQ(kept_by({2, 6, 4}, last), (Kept{0, 1, 4, 5}));
}

TEST(Chunkkv, SelectsTokenByTokenWhereNoChunkFits) {
  EXPECT_EQ(kept_by({10, 1, 3}, {0.1F, 0.3F, 0.05F, 0.3F, 0.25F}), (Kept{0, 1, 3, 4}));
}

// A capacity of 7: chunks 0-2 and 3-5 are kept with token 6. When 7 arrives, one chunk is evicted
// and 5 tokens are left. 8 fills the place of the next chunk.
TEST(Chunkkv, CutsTheMiddleAnewAfterEveryTrim) {
  const auto policy = make_chunkkv(3, 1);
  ScriptedDraws draws;
  MiniCache cache{.recent = 1, .capacity = 7};
  std::vector<float> row = {1};
  while (row.size() < 9) {
    feed_row(cache, *policy, draws, row);
    row.back() = 0;
    row.push_back(0);
    row[0] = 1;
  }
  feed_row(cache, *policy, draws, row);
  EXPECT_EQ(cache.residents, (Kept{0, 1, 2, 6, 7, 8}));
  // Chunks 0-2 and 6-8 are whole; the last query pays the newer one.
  for (const std::array<std::size_t, 2> sizes : {std::array<std::size_t, 2>{7, 0}, {8, 0}}) {
    std::vector<float> next(sizes[0]);
    next[sizes[1]] = 1;
    feed_row(cache, *policy, draws, next);
  }
  EXPECT_EQ(cache.residents, (Kept{0, 1, 2, 6, 7, 8, 9, 10}));
  feed_row(cache, *policy, draws, {0, 0, 0, 0, 1, 0, 0, 0, 0});
  EXPECT_EQ(cache.residents, (Kept{6, 7, 8, 9, 10, 11}));
}

}  // namespace
}  // namespace kv
