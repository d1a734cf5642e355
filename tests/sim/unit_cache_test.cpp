#include "kvcheck/sim/cache/unit_cache.h"

#include <rapidcheck.h>
#include <algorithm>
#include <memory>
#include <set>
#include <span>

#include "kvcheck/policies/policy.h"
#include "kvcheck/policies/registry/registry.h"
#include "kvcheck/properties/reference/reference_cache.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv {
namespace {

std::vector<Position> positions_of(const Visible& visible) {
  std::vector<Position> out;
  for (Position p = visible.sinks.first; p < visible.sinks.last; ++p) out.push_back(p);
  out.insert(out.end(), visible.middle.begin(), visible.middle.end());
  for (Position p = visible.recent.first; p < visible.recent.last; ++p) out.push_back(p);
  return out;
}

// Attention that makes every policy work: a hash of query and key, so that it is the same however
// the stream is chunked.
std::vector<float> row_of(const std::vector<Position>& visible, Position query) {
  std::vector<float> row;
  float sum = 0;
  for (const Position p : visible) {
    const auto weight = static_cast<float>(1 + Rng(5, query).below(97, p));
    row.push_back(weight);
    sum += weight;
  }
  for (float& weight : row) weight /= sum;
  return row;
}

Spec spec_of(const std::string& text) {
  const Result<Spec> spec = parse_spec(text);
  EXPECT_TRUE(spec) << text << ": " << spec.error().message;
  return *spec;
}

UnitCache make_cache(const Spec& spec, std::uint64_t seed = 3) {
  return {spec, std::make_unique<CounterDraws>(Rng(seed, stream_of(1, 2)))};
}

// Shows what any policy asks for: that row, and vectors that are hashes of the query.
void observe(UnitCache& cache, const std::vector<Position>& visible, Position query) {
  const std::vector<float> mass = row_of(visible, query);
  std::vector<float> vector;
  for (std::uint32_t i = 0; i < 8; ++i) {
    vector.push_back(static_cast<float>(Rng(6, query).below(65, i)) / 8 - 4);
  }
  const HeadVectors vectors = {vector, 4};
  cache.observe({.mass = mass,
                 .keys = vectors,
                 .values = vectors,
                 .queries = vectors,
                 .token_class = static_cast<TokenClass>(Rng(7, query).below(3, 0))});
}

// Feeds one chunk; returns what each query saw.
std::vector<std::vector<Position>> feed(UnitCache& cache, std::size_t tokens) {
  std::vector<std::vector<Position>> seen;
  cache.begin_chunk(tokens);
  for (std::size_t i = 0; i < tokens; ++i) {
    const Position query = cache.seen() - static_cast<Position>(tokens - i);
    seen.push_back(positions_of(cache.next_query()));
    if (cache.needs().any()) observe(cache, seen.back(), query);
  }
  cache.end_chunk();
  return seen;
}

std::string random_spec() {
  const auto small = [](int low, int high) {
    return *rc::gen::resize(100, rc::gen::inRange(low, high));
  };
  const int sinks = small(0, 4);
  const int recent = small(0, 7);
  const int middle = small(recent == 0 && sinks == 0 ? 1 : 0, 7);
  const std::string policy = *rc::gen::element<std::string>("streaming", "random", "reservoir",
                                                            "reservoir-as-printed", "h2o", "tova");
  std::string text = policy + ":sinks=" + std::to_string(sinks);
  const bool no_middle = policy == "streaming" || sinks + recent + middle == 0;
  const int kept = no_middle ? std::max(recent, 1) : recent;
  text += ",recent=" + std::to_string(kept);
  if (!no_middle) text += ",budget=" + std::to_string(sinks + recent + std::max(middle, 1));
  text += ";timing=" + *rc::gen::element<std::string>("attend-then-trim", "trim-then-attend",
                                                      "lazy:0", "lazy:3");
  if (kept > 0) text += ";visibility=" + *rc::gen::element<std::string>("causal", "window");
  return text;
}

// What the specification's lists say of the counts: rows behind the first gap move when it closes.
TrimCounts counts_after(TrimCounts counts,
                        const properties::ReferenceCache& reference,
                        std::size_t seen) {
  const std::size_t freed = seen - reference.stored().size();
  if (freed > counts.evicted) ++counts.trims;
  counts.evicted = freed;
  counts.moved = reference.moved();
  return counts;
}

TEST(UnitCache, ShowsWhatItsSpecificationShows) {
  std::uint64_t evictions = 0;
  std::uint64_t wide_chunks = 0;
  EXPECT_TRUE(rc::check([&] {
    const Spec spec = spec_of(random_spec());
    const auto chunks =
        *rc::gen::container<std::vector<int>>(12, rc::gen::resize(100, rc::gen::inRange(1, 14)));
    UnitCache cache = make_cache(spec);
    properties::ReferenceCache reference(spec,
                                         std::make_shared<CounterDraws>(Rng(3, stream_of(1, 2))));
    TrimCounts counts;
    for (const int chunk : chunks) {
      wide_chunks += static_cast<std::uint32_t>(chunk) > spec.recent ? 1U : 0U;
      const auto seen = feed(cache, static_cast<std::size_t>(chunk));
      const auto expected = reference.feed(static_cast<std::size_t>(chunk), row_of, nullptr);
      if (reference.doubtful()) break;
      RC_ASSERT(seen == expected);
      RC_ASSERT(positions_of(cache.all()) == reference.residents());
      RC_ASSERT(cache.stored() == reference.stored().size());
      counts = counts_after(counts, reference, cache.seen());
      RC_ASSERT(cache.counts() == counts);
    }
    evictions += cache.counts().evicted;
  }));
  EXPECT_GT(evictions, 1000U);
  EXPECT_GT(wide_chunks, 100U);
}

TEST(UnitCache, GivesEachResidentASlotOfItsOwnAndNeverMovesIt) {
  std::uint64_t reused = 0;
  EXPECT_TRUE(rc::check([&] {
    const Spec spec = spec_of(random_spec());
    UnitCache cache = make_cache(spec);
    std::map<Position, Slot> before;
    for (int step = 0; step < 20; ++step) {
      feed(cache, static_cast<std::size_t>(1 + step % 5));
      std::map<Position, Slot> now;
      std::set<Slot> taken;
      const auto residents = positions_of(cache.all());
      for (std::size_t rank = 0; rank < residents.size(); ++rank) {
        const Slot slot = cache.slots().slot_of(rank);
        RC_ASSERT(slot < cache.slots().used());
        RC_ASSERT(taken.insert(slot).second);
        now[residents[rank]] = slot;
        const auto old = before.find(residents[rank]);
        RC_ASSERT(old == before.end() || old->second == slot);
      }
      before = now;
    }
    reused += cache.seen() - cache.slots().used();
  }));
  EXPECT_GT(reused, 1000U);
}

TEST(UnitCache, WithAWindowVisibilityShowsTheSameWhateverTheChunk) {
  std::uint64_t evictions = 0;
  for (const std::string policy :
       {"streaming:sinks=2,recent=6", "reservoir:sinks=2,recent=3,budget=9",
        "random:sinks=1,recent=3,budget=9", "h2o:recent=3,budget=8", "tova:recent=1,budget=8"}) {
    for (const std::string timing : {"attend-then-trim", "trim-then-attend", "lazy:5"}) {
      const Spec spec = spec_of(policy + ";visibility=window;timing=" + timing);
      std::vector<std::vector<Position>> one_by_one;
      UnitCache slow = make_cache(spec);
      for (int t = 0; t < 60; ++t) one_by_one.push_back(feed(slow, 1).front());
      for (const std::size_t chunk : {2U, 3U, 5U, 6U, 7U, 10U, 30U, 60U}) {
        UnitCache fast = make_cache(spec);
        std::vector<std::vector<Position>> chunked;
        for (std::size_t t = 0; t < 60; t += chunk) {
          for (auto& seen : feed(fast, std::min(chunk, 60 - t))) chunked.push_back(std::move(seen));
        }
        EXPECT_EQ(chunked, one_by_one) << policy << " in chunks of " << chunk;
        evictions += fast.counts().evicted;
      }
    }
  }
  EXPECT_GT(evictions, 2000U);
}

TEST(UnitCache, KeepsTheSameResidentsWhateverTheChunkWhereThatIsClaimed) {
  for (const PolicyEntry& entry : policy_registry()) {
    if (entry.protection.middle != Protection::Middle::some) continue;
    if (std::ranges::find(entry.claims, "chunk-invariant") == entry.claims.end()) continue;
    const Spec spec = spec_of(std::string(entry.name) + ":sinks=2,recent=4,budget=11");
    UnitCache slow = make_cache(spec);
    for (int t = 0; t < 120; ++t) feed(slow, 1);
    for (const std::size_t chunk : {2U, 3U, 4U, 5U, 8U, 24U, 60U, 120U}) {
      UnitCache fast = make_cache(spec);
      for (std::size_t t = 0; t < 120; t += chunk) feed(fast, chunk);
      EXPECT_EQ(positions_of(fast.all()), positions_of(slow.all())) << entry.name << " " << chunk;
    }
  }
}

TEST(UnitCache, ForksIndependently) {
  const Spec spec = spec_of("h2o:sinks=1,recent=3,budget=8");
  UnitCache cache = make_cache(spec);
  for (int t = 0; t < 30; ++t) feed(cache, 1);
  UnitCache fork = cache.fork(std::make_unique<CounterDraws>(Rng(3, stream_of(1, 2))));
  const auto before = positions_of(cache.all());
  for (int t = 0; t < 10; ++t) feed(fork, 3);
  EXPECT_EQ(positions_of(cache.all()), before);
  for (int t = 0; t < 10; ++t) feed(cache, 3);
  EXPECT_EQ(positions_of(fork.all()), positions_of(cache.all()));
}

std::vector<std::byte> saved(const UnitCache& cache) {
  ByteWriter writer;
  cache.save(writer);
  return writer.bytes();
}

std::vector<Slot> slots_of(const UnitCache& cache) {
  std::vector<Slot> slots;
  for (std::size_t rank = 0; rank < cache.residents(); ++rank) {
    slots.push_back(cache.slots().slot_of(rank));
  }
  return slots;
}

TEST(UnitCache, ContinuesAlikeAfterSaveAndLoad) {
  std::uint64_t evictions = 0;
  std::uint64_t unfreed = 0;
  EXPECT_TRUE(rc::check([&] {
    const Spec spec = spec_of(random_spec());
    const auto chunks =
        *rc::gen::container<std::vector<int>>(16, rc::gen::resize(100, rc::gen::inRange(1, 9)));
    const auto before = *rc::gen::resize(100, rc::gen::inRange<std::size_t>(0, chunks.size()));
    UnitCache cache = make_cache(spec);
    for (std::size_t i = 0; i < before; ++i) feed(cache, static_cast<std::size_t>(chunks[i]));
    unfreed += cache.slots().unfreed();

    UnitCache restored = make_cache(spec);
    feed(restored, 3);  // what load() finds there is to leave no trace
    const std::vector<std::byte> bytes = saved(cache);
    ByteReader reader(bytes);
    restored.load(reader);
    RC_ASSERT(reader.finished().has_value());
    RC_ASSERT(saved(restored) == bytes);
    RC_ASSERT(slots_of(restored) == slots_of(cache));

    for (std::size_t i = before; i < chunks.size(); ++i) {
      const auto tokens = static_cast<std::size_t>(chunks[i]);
      RC_ASSERT(feed(restored, tokens) == feed(cache, tokens));
      RC_ASSERT(restored.stored() == cache.stored());
      RC_ASSERT(restored.counts() == cache.counts());
      RC_ASSERT(slots_of(restored) == slots_of(cache));
    }
    evictions += cache.counts().evicted;
  }));
  EXPECT_GT(evictions, 1000U);
  EXPECT_GT(unfreed, 0U);
}

TEST(UnitCache, ReportsSavedBytesThatEndTooEarlyOrGoOn) {
  const Spec spec = spec_of("h2o:sinks=1,recent=3,budget=8;timing=lazy:3;visibility=window");
  UnitCache cache = make_cache(spec);
  for (int t = 0; t < 40; ++t) feed(cache, 1);
  std::vector<std::byte> bytes = saved(cache);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    UnitCache restored = make_cache(spec);
    ByteReader reader{std::span(bytes).first(length)};
    restored.load(reader);
    EXPECT_FALSE(reader.finished()) << length;
  }
  bytes.push_back(std::byte{0});
  UnitCache restored = make_cache(spec);
  ByteReader reader(bytes);
  restored.load(reader);
  EXPECT_FALSE(reader.finished());
}

TEST(UnitCache, NeverEvictsWhenDense) {
  UnitCache cache = make_cache(spec_of("dense"));
  for (int t = 0; t < 50; ++t) {
    EXPECT_EQ(feed(cache, 2).back().size(), static_cast<std::size_t>(2 * t + 2));
  }
  EXPECT_EQ(cache.counts(), TrimCounts{});
}

}  // namespace
}  // namespace kv
