// Residents that are evaluated again are what a fresh model makes of them, to the bit.
#include "kvcheck/model/decoder/re_evaluation.h"

#include "kvcheck/model/decoder/decoder.h"
#include "kvcheck/tests/model/small_models.h"

namespace kv::model {
namespace {

using namespace testing;

LanguageModel opened(const test::SmallModel& small) {
  return open_model(small.write("re-evaluation-model")).value();
}

TokenId token_at(Position position) {
  return static_cast<TokenId>(position * position * 5 % 29 + 2);
}

std::vector<float> bits_of(const Decoder& decoder) {
  return {decoder.logits().begin(), decoder.logits().end()};
}

// What a model says after it has read these positions' tokens and nothing else.
std::vector<float> fresh_logits(const LanguageModel& model,
                                const std::vector<Position>& positions,
                                const DecoderOptions& options) {
  Decoder fresh = Decoder::create(model, parse_spec("dense").value(), options).value();
  for (const Position position : positions) {
    EXPECT_TRUE(fresh.feed(std::vector<TokenId>{token_at(position)}));
  }
  return bits_of(fresh);
}

std::vector<Position> residents_of(const Decoder& decoder) {
  const Visible all = decoder.attention().units().front().cache.all();
  std::vector<Position> positions;
  for (Position at = all.sinks.first; at < all.sinks.last; ++at) positions.push_back(at);
  positions.insert(positions.end(), all.middle.begin(), all.middle.end());
  for (Position at = all.recent.first; at < all.recent.last; ++at) positions.push_back(at);
  return positions;
}

// At how many of 60 tokens the logits are those of a fresh model that read what was resident
// before the token, and the token.
std::size_t fresh_steps(const LanguageModel& model,
                        const std::string& spec,
                        const DecoderOptions& options = {}) {
  Decoder decoder = Decoder::create(model, parse_spec(spec).value(), options).value();
  std::size_t equal = 0;
  for (Position position = 0; position < 60; ++position) {
    std::vector<Position> seen = position == 0 ? std::vector<Position>{} : residents_of(decoder);
    if (parse_spec(spec)->timing == Timing::trim_then_attend && seen.size() == 12) {
      seen.erase(seen.begin() + parse_spec(spec)->sinks);  // it makes room
    }
    EXPECT_TRUE(decoder.feed(std::vector<TokenId>{token_at(position)}));
    seen.push_back(position);
    equal += bits_of(decoder) == fresh_logits(model, seen, options) ? 1U : 0U;
  }
  return equal;
}

const std::string recompute =
    "window:recent=12;timing=trim-then-attend;positions=in-cache;vectors=re-evaluated";
const std::string discard =
    "streaming:sinks=2,recent=10;timing=lazy:10;positions=in-cache;vectors=re-evaluated";

TEST(ReEvaluation, RecomputationIsAFreshModelOnTheWindow) {
  EXPECT_EQ(fresh_steps(opened(test::small_llama()), recompute), 60U);
  EXPECT_EQ(fresh_steps(opened(test::small_gpt_neox()), recompute), 60U);
  EXPECT_EQ(fresh_steps(opened(test::small_gpt2()), recompute), 60U);
}

TEST(ReEvaluation, DiscardingHalfIsAFreshModelOnWhatIsLeft) {
  EXPECT_EQ(fresh_steps(opened(test::small_llama()), discard), 60U);
  EXPECT_EQ(fresh_steps(opened(test::small_gpt_neox()), discard), 60U);
  EXPECT_EQ(fresh_steps(opened(test::small_gpt2()), discard), 60U);
}

TEST(ReEvaluation, HoldsForEveryStorageOfKeysAndForSamples) {
  const LanguageModel model = opened(test::small_llama());
  EXPECT_EQ(fresh_steps(model, discard, {.keys = KeyStorage::raw}), 60U);
  EXPECT_EQ(fresh_steps(model, discard, {.storage = Number::f16}), 60U);
  EXPECT_EQ(fresh_steps(model, discard, {.storage = parse_kv_format("int4").value()}), 60U);
  EXPECT_EQ(fresh_steps(model, discard, {.storage = Number::bf16, .keys = KeyStorage::raw}), 60U);
  const std::string sample =
      "reservoir:sinks=2,recent=4,budget=12;unit=model;positions=in-cache;vectors=re-evaluated";
  EXPECT_EQ(fresh_steps(model, sample), 60U);
}

TEST(ReEvaluation, WithoutItResidentsRememberWhatHasGone) {
  const LanguageModel model = opened(test::small_llama());
  const std::string kept = "streaming:sinks=2,recent=10;timing=lazy:10;positions=in-cache";
  // Only before the first trim, which the 23rd token makes, is nothing missing.
  EXPECT_EQ(fresh_steps(model, kept, {.keys = KeyStorage::raw}), 23U);
}

TEST(ReEvaluation, ChunksAreFedAfterTheResidentsOfTheirBeginning) {
  const LanguageModel model = opened(test::small_llama());
  Decoder decoder = Decoder::create(model, parse_spec(discard + ";chunk=7").value()).value();
  std::size_t trims = 0;
  for (Position first = 0; first < 70; first += 7) {
    std::vector<Position> seen = first == 0 ? std::vector<Position>{} : residents_of(decoder);
    trims += seen.size() < first ? 1U : 0U;
    std::vector<TokenId> chunk;
    for (Position at = first; at < first + 7; ++at) {
      chunk.push_back(token_at(at));
      seen.push_back(at);
    }
    ASSERT_TRUE(decoder.feed(chunk, Logits::last));
    EXPECT_EQ(bits_of(decoder), fresh_logits(model, seen, {})) << first;
  }
  EXPECT_GE(trims, 3U);
}

}  // namespace
}  // namespace kv::model
