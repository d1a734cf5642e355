// A hundred thousand generated tokens on a constant cache: neither the cache nor the heap grows.
// That time per token is constant too is tested where clocks are, in tests/cli/speed_test.cpp.
#include <malloc.h>

#include <array>
#include <cmath>

#include "kvcheck/model/decoder/decoder.h"
#include "kvcheck/model/run/token_sampler.h"
#include "kvcheck/tests/model/small_models.h"

namespace kv::model {
namespace {

// Sanitizers make it slow, and have a heap of their own.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

constexpr std::size_t generated = sanitized ? 2000 : 100000;
constexpr std::size_t settled = generated / 10;  // everything has reached its size by then

// What is allocated, large blocks with maps of their own included.
std::size_t heap_bytes() {
  const auto info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

class LongRun : public testing::TestWithParam<const char*> {};

TEST_P(LongRun, NeitherCacheNorHeapGrow) {
  const LanguageModel model = open_model(test::small_llama().write("long-model")).value();
  const Spec spec = parse_spec(GetParam()).value();
  Decoder decoder = Decoder::create(model, spec, {.storage = Number::f16}).value();
  TokenSampler sampler({}, Rng(5));
  ASSERT_TRUE(decoder.feed(std::array<TokenId, 1>{1}, Logits::last));
  std::size_t bytes = 0;
  std::size_t residents = 0;
  std::size_t heap = 0;
  for (std::size_t i = 1; i <= generated; ++i) {
    const TokenId next = sampler.draw(decoder.logits(), decoder.seen());
    ASSERT_TRUE(decoder.feed(std::array{next}, Logits::last));
    if (i % settled != 0) continue;
    const CachedAttention& attention = decoder.attention();
    const UnitCache& cache = attention.units().front().cache;
    if (i == settled) {
      bytes = attention.bytes();
      residents = cache.residents();
      heap = heap_bytes();
      EXPECT_LE(residents, spec.budget + spec.slack);
      EXPECT_GT(bytes, 0U);
    }
    ASSERT_EQ(attention.bytes(), bytes) << i;
    ASSERT_LE(cache.stored(), spec.budget + spec.slack + 1) << i;
    if (spec.slack == 0) {
      ASSERT_EQ(cache.residents(), residents) << i;
    }
  }
  EXPECT_EQ(decoder.seen(), generated + 1);
  for (const float logit : decoder.logits()) ASSERT_TRUE(std::isfinite(logit));
  if (!sanitized) {
    // One byte per token more would be 90,000.
    EXPECT_LT(heap_bytes(), heap + 16384);
  }
}

INSTANTIATE_TEST_SUITE_P(Policies,
                         LongRun,
                         testing::Values("window:budget=32",
                                         "streaming:sinks=4,budget=32;positions=in-cache",
                                         "streaming:sinks=4,budget=32;positions=shifted",
                                         "streaming:sinks=4,budget=32;timing=lazy:8",
                                         "random:sinks=4,budget=32;positions=in-cache",
                                         "reservoir:sinks=4,recent=8,budget=32;positions=in-cache",
                                         "h2o:sinks=4,recent=8,budget=32;positions=in-cache",
                                         "tova:sinks=4,budget=32;positions=in-cache"));

}  // namespace
}  // namespace kv::model
