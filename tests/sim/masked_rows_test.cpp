// Rows that are hidden instead of freed: the visible tokens do not change, the stored rows do.
#include <set>

#include "kvcheck/tests/sim/reductions.h"

namespace kv {
namespace {

constexpr std::array<const char*, 4> settings = {"", ";timing=lazy:5", ";timing=trim-then-attend",
                                                 ";timing=trim-then-attend;visibility=window"};

// Both caches show and keep the same; how many rows more the first stores after every chunk.
std::vector<std::size_t> rows_more(const std::string& one, const std::string& other) {
  UnitCache a = cache_of(one);
  UnitCache b = cache_of(other);
  std::vector<std::size_t> more;
  for (std::size_t call = 0; a.seen() < stream_tokens; ++call) {
    const std::size_t chunk = chunk_at(2, call, stream_tokens);
    EXPECT_EQ(feed(a, chunk, {}), feed(b, chunk, {})) << one;
    EXPECT_EQ(listed(a.all()), listed(b.all())) << one;
    more.push_back(a.stored() - b.stored());
  }
  return more;
}

TEST(MaskedRows, OfTheFirstPageStayBesideTheBudget) {
  const std::string pages = "pages:sinks=1,recent=2,budget=9,page=4,first-page=";
  for (const std::string setting : settings) {
    const auto more = rows_more(pages + "masked" + setting, pages + "freed" + setting);
    EXPECT_EQ(more.front(), 0U) << setting;
    EXPECT_EQ(more.back(), 3U) << setting;
  }
}

TEST(MaskedRows, OfTheMaskSimulationAreAllThereEverWere) {
  const std::string h2o = "h2o:sinks=1,recent=2,budget=9";
  for (const std::string setting : settings) {
    const std::string text = h2o + ",form=mask-simulation" + setting;
    rows_more(text, h2o + setting);
    UnitCache cache = cache_of(text);
    while (cache.seen() < stream_tokens) feed(cache, 3, {});
    EXPECT_EQ(cache.stored(), cache.seen()) << setting;
    EXPECT_EQ(cache.counts(), TrimCounts{}) << setting;
    EXPECT_EQ(cache.slots().used(), cache.seen()) << setting;
  }
}

TEST(MaskedRows, AreNoOtherRowsSlot) {
  UnitCache cache = cache_of("pages:sinks=1,recent=2,budget=9,page=4,first-page=masked");
  std::set<Slot> first_page;
  feed(cache, 4, {});
  for (std::size_t rank = 1; rank < 4; ++rank) first_page.insert(cache.slots().slot_of(rank));
  while (cache.seen() < stream_tokens) feed(cache, 1, {});
  for (std::size_t rank = 0; rank < cache.residents(); ++rank) {
    EXPECT_FALSE(first_page.contains(cache.slots().slot_of(rank)));
  }
}

TEST(MaskedRows, AreRememberedByCopiesAndBytes) {
  UnitCache cache = cache_of("pages:sinks=1,recent=2,budget=9,page=4,first-page=masked");
  while (cache.seen() < stream_tokens) feed(cache, 1, {});
  EXPECT_EQ(cache.fork(std::make_unique<CounterDraws>(Rng(1))).stored(), cache.stored());
  ByteWriter writer;
  cache.save(writer);
  UnitCache loaded = cache_of("pages:sinks=1,recent=2,budget=9,page=4,first-page=masked");
  ByteReader reader(writer.bytes());
  loaded.load(reader);
  EXPECT_TRUE(reader.finished());
  EXPECT_EQ(loaded.stored(), cache.stored());
}

}  // namespace
}  // namespace kv
