// Stored and visible sizes for every timing, visibility and chunk, against closed formulas.
//
// s sinks, k middle, w recent, B = s + k + w; t tokens before the chunk, c in it, query i of the
// chunk. "Visible" counts the query's own key.
#include <algorithm>
#include <memory>

#include "kvcheck/base/text/text.h"
#include "kvcheck/sim/cache/unit_cache.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv {
namespace {

struct Sizes {
  std::size_t s = 0;
  std::size_t k = 0;
  std::size_t w = 0;

  [[nodiscard]] std::size_t budget() const { return s + k + w; }
};

struct Case {
  Sizes sizes;
  std::string timing;
  std::size_t slack = 0;
  std::string visibility;
  std::size_t chunk = 1;
  std::size_t tokens = 0;

  [[nodiscard]] std::string text() const {
    const auto word = [](std::size_t n) { return std::to_string(n); };
    const std::string policy =
        sizes.k == 0 ? "streaming:sinks=" + word(sizes.s) + ",recent=" + word(sizes.w)
                     : "reservoir:sinks=" + word(sizes.s) + ",recent=" + word(sizes.w) +
                           ",budget=" + word(sizes.budget());
    return policy + ";timing=" + timing + ";visibility=" + visibility + ";chunk=" + word(chunk);
  }
};

// What a chunk of c tokens should show, given how many rows are stored before it (lazy needs to
// know; the others follow from t).
struct Expected {
  std::size_t stored = 0;            // while attending
  std::size_t kept = 0;              // after the chunk
  std::vector<std::size_t> visible;  // per query
};

Expected attend_then_trim(const Case& at, std::size_t t, std::size_t c) {
  const std::size_t before = std::min(at.sizes.budget(), t);
  Expected expected = {before + c, std::min(at.sizes.budget(), t + c), {}};
  for (std::size_t i = 0; i < c; ++i) expected.visible.push_back(before + i + 1);
  return expected;
}

// Room is made for c: B - c rows stay where c <= w, and no recent ones where c > w.
Expected trim_then_attend(const Case& at, std::size_t t, std::size_t c) {
  const Sizes& z = at.sizes;
  const std::size_t before = std::min(t, c <= z.w ? z.budget() - c : z.s + z.k);
  Expected expected = {before + c, before + c, {}};
  for (std::size_t i = 0; i < c; ++i) expected.visible.push_back(before + i + 1);
  return expected;
}

// In closed form: nothing leaves until more than B + slack are stored at a chunk's end, at the end
// of chunk number `first` (from 0); from there a trim comes every `period` chunks. All chunks are
// equal but the last, so the rows stored before chunk j follow from j alone.
Expected lazy(const Case& at, std::size_t t, std::size_t c) {
  const std::size_t b = at.sizes.budget();
  const std::size_t chunk = at.chunk;
  const std::size_t first = (b + at.slack) / chunk;
  const std::size_t period = at.slack / chunk + 1;
  const std::size_t j = t / chunk;
  const std::size_t before = j <= first ? t : b + (j - first - 1) % period * chunk;
  const std::size_t after = before + c;
  Expected expected = {after, after > b + at.slack ? b : after, {}};
  for (std::size_t i = 0; i < c; ++i) expected.visible.push_back(before + i + 1);
  return expected;
}

Expected expected_of(const Case& at, std::size_t t, std::size_t c) {
  const bool early = at.timing == "trim-then-attend";
  if (at.visibility == "causal") {
    if (early) return trim_then_attend(at, t, c);
    return at.timing == "attend-then-trim" ? attend_then_trim(at, t, c) : lazy(at, t, c);
  }
  // Exactly the budget (or all there is), whatever the chunk. Rows are freed when the timing says
  // so; making room can free no row that the chunk's first query still sees.
  Expected expected = at.timing.starts_with("lazy") ? lazy(at, t, c) : attend_then_trim(at, t, c);
  if (early) expected.kept = expected.stored;
  for (std::size_t i = 0; i < c; ++i) {
    expected.visible[i] = std::min(at.sizes.budget(), t + i + 1);
  }
  return expected;
}

// Runs one case; returns how many rows were evicted.
std::uint64_t check_case(const Case& at) {
  SCOPED_TRACE(at.text() + " over " + std::to_string(at.tokens) + " tokens");
  const Result<Spec> spec = parse_spec(at.text());
  EXPECT_TRUE(spec) << spec.error().message;
  if (!spec) return 0;
  UnitCache cache(*spec, std::make_unique<CounterDraws>(Rng(7)));
  for (std::size_t t = 0; t < at.tokens;) {
    const std::size_t c = std::min(at.chunk, at.tokens - t);
    const Expected expected = expected_of(at, t, c);
    cache.begin_chunk(c);
    EXPECT_EQ(cache.stored(), expected.stored) << "while attending, at " << t;
    for (std::size_t i = 0; i < c; ++i) {
      EXPECT_EQ(cache.next_query().size(), expected.visible[i]) << "query " << i << " at " << t;
    }
    cache.end_chunk();
    EXPECT_EQ(cache.stored(), expected.kept) << "after the chunk at " << t;
    if (::testing::Test::HasFailure()) return 0;
    t += c;
  }
  return cache.counts().evicted;
}

std::vector<std::size_t> chunks_around(const Sizes& z) {
  std::vector<std::size_t> chunks = {1, z.w, z.w + 1, z.budget() + 3, 3 * z.budget()};
  if (z.w > 1) chunks.push_back(z.w - 1);
  std::erase(chunks, std::size_t{0});
  return chunks;
}

TEST(Sizes, FollowTheClosedFormulasForEveryTimingVisibilityChunkAndLength) {
  std::uint64_t evicted = 0;
  std::size_t cases = 0;
  for (const Sizes z : {Sizes{0, 0, 1}, Sizes{1, 0, 1}, Sizes{4, 0, 12}, Sizes{0, 0, 5},
                        Sizes{2, 3, 4}, Sizes{0, 5, 0}, Sizes{4, 1, 1}, Sizes{1, 7, 0}}) {
    for (const auto& [timing, slack] : {std::pair<std::string, std::size_t>{"attend-then-trim", 0},
                                        {"trim-then-attend", 0},
                                        {"lazy:0", 0},
                                        {"lazy:1", 1},
                                        {"lazy:6", 6},
                                        {"lazy:64", 64}}) {
      for (const std::string visibility : {"causal", "window"}) {
        if (visibility == "window" && z.w == 0) continue;
        for (const std::size_t chunk : chunks_around(z)) {
          const std::size_t b = z.budget();
          for (const std::size_t tokens : {b - 1, b, b + 1, b + 2, 5 * b + 71}) {
            if (tokens == 0) continue;
            evicted += check_case({z, timing, slack, visibility, chunk, tokens});
            ++cases;
            if (HasFailure()) return;
          }
        }
      }
    }
  }
  EXPECT_GT(evicted, 10000U);
  EXPECT_GT(cases, 1000U);
}

TEST(Sizes, OfALazyCacheSawtoothBetweenTheBudgetAndItsSlack) {
  const Spec spec = *parse_spec("streaming:sinks=4,recent=12;timing=lazy:64");
  UnitCache cache(spec, std::make_unique<CounterDraws>(Rng(1)));
  std::vector<std::size_t> visible;
  for (int t = 0; t < 400; ++t) {
    cache.begin_chunk(1);
    visible.push_back(cache.next_query().size());
    cache.end_chunk();
  }
  const auto [least, most] = std::minmax_element(visible.begin() + 200, visible.end());
  EXPECT_EQ(*least, 17U);
  EXPECT_EQ(*most, 81U);
  EXPECT_EQ(visible[300], visible[300 + 65]);
}

TEST(Sizes, WithLazyZeroAreThoseOfAttendThenTrim) {
  for (const std::size_t chunk : {1U, 3U, 12U, 13U, 40U}) {
    const Case lazy_zero = {{4, 2, 12}, "lazy:0", 0, "causal", chunk, 200};
    for (std::size_t t = 0; t + chunk <= 200; t += chunk) {
      EXPECT_EQ(lazy(lazy_zero, t, chunk).visible, attend_then_trim(lazy_zero, t, chunk).visible);
    }
  }
}

}  // namespace
}  // namespace kv
