// Options and streams under which one policy is another.
#include <algorithm>
#include <array>
#include <memory>

#include "sim/unit_cache.h"

namespace kv {
namespace {

std::vector<Position> all_of(const UnitCache& cache) {
  const Visible all = cache.all();
  std::vector<Position> out;
  for (Position p = all.sinks.first; p < all.sinks.last; ++p) out.push_back(p);
  out.insert(out.end(), all.middle.begin(), all.middle.end());
  for (Position p = all.recent.first; p < all.recent.last; ++p) out.push_back(p);
  return out;
}

// Attention by chance of the query and the token, so that equal residents are paid alike; every
// token is content.
void feed(UnitCache& cache, std::size_t tokens) {
  cache.begin_chunk(tokens);
  for (std::size_t i = 0; i < tokens; ++i) {
    const Position query = cache.seen() - static_cast<Position>(tokens - i);
    const Visible seen = cache.next_query();
    if (!cache.needs().any()) continue;
    std::vector<float> row;
    const auto add = [&](Position p) {
      row.push_back(static_cast<float>(Rng(9, query).below(64, p)) / 64);
    };
    for (Position p = seen.sinks.first; p < seen.sinks.last; ++p) add(p);
    for (const Position p : seen.middle) add(p);
    for (Position p = seen.recent.first; p < seen.recent.last; ++p) add(p);
    cache.observe({.mass = row});
  }
  cache.end_chunk();
}

UnitCache cache_of(const std::string& text) {
  const Result<Spec> spec = parse_spec(text);
  EXPECT_TRUE(spec) << text << ": " << spec.error().message;
  return {*spec, std::make_unique<CounterDraws>(Rng(1))};
}

void expect_alike(const std::string& one, const std::string& other, const std::string& settings) {
  UnitCache a = cache_of(one + settings);
  UnitCache b = cache_of(other + settings);
  for (std::size_t i = 0; i < 60; ++i) {
    const std::size_t chunk = i < 20 ? 1 : 1 + i * 7 % 11;
    feed(a, chunk);
    feed(b, chunk);
    ASSERT_EQ(all_of(a), all_of(b)) << one << " and " << other << settings << ", call " << i;
    ASSERT_EQ(a.stored(), b.stored()) << one << settings;
  }
  EXPECT_GT(a.counts().evicted, 100U);
}

constexpr std::array<const char*, 4> all_settings = {"", ";timing=lazy:5", ";visibility=window",
                                                     ";timing=lazy:5;visibility=window"};

TEST(Reductions, FifoIsStreamingWithAllRecent) {
  for (const char* settings : all_settings) {
    expect_alike("fifo:sinks=2,recent=3,budget=9", "streaming:sinks=2,budget=9", settings);
    expect_alike("fifo:sinks=0,recent=1,budget=9", "window:budget=9", settings);
  }
}

TEST(Reductions, PagesOfOneTokenAreAQueue) {
  for (const char* settings : all_settings) {
    expect_alike("pages:sinks=2,recent=3,budget=9,page=1,first-page=freed",
                 "fifo:sinks=2,recent=3,budget=9", settings);
  }
}

TEST(Reductions, SnapkvWithOneVoterAndNoNeighboursIsTova) {
  for (const char* settings : all_settings) {
    expect_alike("snapkv:sinks=1,recent=3,budget=9,window=1,kernel=1",
                 "tova:sinks=1,recent=3,budget=9", settings);
  }
}

TEST(Reductions, KeyformerWithoutNoiseAndStepIsH2o) {
  for (const char* settings : all_settings) {
    expect_alike("keyformer:sinks=1,recent=3,budget=9,noise=none,step=0",
                 "h2o:sinks=1,recent=3,budget=9", settings);
  }
}

TEST(Reductions, TokenClassesOfContentWordsOnlyAreAQueue) {
  for (const char* settings : all_settings) {
    expect_alike("token-classes:sinks=1,recent=3,budget=9", "fifo:sinks=1,recent=3,budget=9",
                 settings);
    expect_alike("separators:sinks=1,recent=3,budget=9", "fifo:sinks=1,recent=3,budget=9",
                 settings);
  }
}

}  // namespace
}  // namespace kv
