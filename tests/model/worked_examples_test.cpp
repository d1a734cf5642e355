// The worked examples that sources print, as far as they are about positions.
#include <list>
#include <map>

#include "kvcheck/model/decoder/decoder.h"
#include "kvcheck/tests/model/small_models.h"
#include "kvcheck/tests/sim/listed.h"

namespace kv::model {
namespace {

using Kept = std::vector<Position>;

// In layer 0 a token's vectors do not depend on its context, so that a dense model which is fed the
// residents alone tells what they are at in-cache positions.
constexpr std::size_t first_layer = 0;

// The keys before rotation and the rows of attention that layer 0 had.
class Layer0 final : public AttentionObserver {
 public:
  std::map<Position, std::vector<float>> keys;  // by the token's position in the stream
  std::vector<std::vector<float>> rows;         // of the last query, by head

  void on_vectors(Position first, const LayerVectors& vectors) override {
    if (vectors.layer != first_layer) return;
    for (std::size_t i = 0; i < vectors.tokens; ++i) {
      keys[first + static_cast<Position>(i)] = {vectors.k + i * width, vectors.k + (i + 1) * width};
    }
  }

  void on_row(std::size_t layer,
              std::size_t head,
              Position,
              const Visible&,
              std::span<const float> mass) override {
    if (layer != first_layer) return;
    if (head == 0) rows.clear();
    rows.emplace_back(mass.begin(), mass.end());
  }

  std::size_t width = 0;  // of all kv-heads' keys
};

// A decoder that has been fed.
struct Fed {
  Decoder& decoder;
  const Layer0& seen;
};

class WorkedPositions : public testing::Test {
 protected:
  // Feeds these tokens one by one. What is returned lives as long as the test.
  Fed run(const test::SmallModel& small,
          const std::string& spec,
          const std::vector<TokenId>& tokens) {
    const LanguageModel& model =
        models_.emplace_back(open_model(small.write("worked-example")).value());
    Layer0& seen = seen_.emplace_back();
    seen.width = model.config.kv_heads * model.config.head_dim;
    Decoder& decoder = decoders_.emplace_back(
        Decoder::create(model, parse_spec(spec).value(), {.observer = &seen}).value());
    for (const TokenId token : tokens) EXPECT_TRUE(decoder.feed(std::vector<TokenId>{token}));
    return {decoder, seen};
  }

 private:
  std::list<Layer0> seen_;
  std::list<LanguageModel> models_;
  std::list<Decoder> decoders_;
};

std::vector<TokenId> tokens_at(const Kept& positions) {
  std::vector<TokenId> out;
  for (const Position p : positions) out.push_back(static_cast<TokenId>((p * 7 + 3) % 32));
  return out;
}

void expect_near(const std::vector<float>& one, const std::vector<float>& other, float bound) {
  ASSERT_EQ(one.size(), other.size());
  for (std::size_t i = 0; i < one.size(); ++i) EXPECT_NEAR(one[i], other[i], bound) << i;
}

// How far two rows of attention are apart, at most.
float apart(const Layer0& one, const Layer0& other) {
  float most = 0;
  EXPECT_EQ(one.rows.size(), other.rows.size());
  for (std::size_t head = 0; head < one.rows.size(); ++head) {
    EXPECT_EQ(one.rows[head].size(), other.rows[head].size());
    for (std::size_t i = 0; i < one.rows[head].size(); ++i) {
      most = std::max(most, std::abs(one.rows[head][i] - other.rows[head][i]));
    }
  }
  return most;
}

// A blog on StreamingLLM, section on the remedy: a cache of 8 that holds 0 1 2 3 5 6 7 8 attends at
// the positions in the cache, which are 0 1 2 3 4 5 6 7, and not at those in the text.
TEST_F(WorkedPositions, TheCacheOfEightAttendsAtItsOwnPositions) {
  const std::string cache = "streaming:sinks=4,recent=4;timing=trim-then-attend";
  const std::vector<TokenId> nine = tokens_at(from_to(0, 8));
  const Layer0& in_cache = run(test::small_llama(), cache + ";positions=in-cache", nine).seen;
  const Layer0& in_text = run(test::small_llama(), cache, nine).seen;
  const Layer0& fed_these_alone =
      run(test::small_llama(), "dense", tokens_at({0, 1, 2, 3, 5, 6, 7, 8})).seen;
  EXPECT_LT(apart(in_cache, fed_these_alone), 1e-5F);
  EXPECT_GT(apart(in_text, fed_these_alone), 1e-3F);
}

// Queries of the next positions are rotated, where a model rotates them at all.
TEST_F(WorkedPositions, ARotaryModelGivesPoliciesItsRotation) {
  const auto kept = [&](const test::SmallModel& model, const std::string& future) {
    const Fed fed = run(model, "expected-attention:sinks=0,recent=2,budget=6,future=" + future,
                        tokens_at(from_to(0, 20)));
    std::vector<Kept> all;
    for (const ModelUnit& unit : fed.decoder.attention().units()) {
      all.push_back(listed(unit.cache.all()));
    }
    return all;
  };
  EXPECT_NE(kept(test::small_llama(), "0"), kept(test::small_llama(), "4"));
  EXPECT_EQ(kept(test::small_gpt2(), "0"), kept(test::small_gpt2(), "4"));
}

// A walkthrough of a rolling cache for GPT-2, 3 sinks and at most 7 tokens: once it is full, "the
// same position embedding" is fetched for every token that comes, the seventh. It goes on that "the
// position embedding associated with the token changes on each iteration", which holds for a slot
// but not for a token: its key is cached with the embedding that it came with, and keeps it.
TEST_F(WorkedPositions, TheRollingCacheGivesEveryNewWordTheSeventhPosition) {
  const Fed rolling = run(test::small_gpt2(), "@gpt2-rolling", tokens_at(from_to(0, 8)));
  for (const Position word : {7U, 8U}) {
    const Fed seventh = run(test::small_gpt2(), "dense", tokens_at({0, 1, 2, 3, 4, 5, word}));
    EXPECT_EQ(rolling.seen.keys.at(word), seventh.seen.keys.at(6)) << word;
  }
  // "text" is now the last but one of the seven, with the key that it came with.
  const ModelUnit& unit = rolling.decoder.attention().units().front();
  ASSERT_EQ(listed(unit.cache.all()), (Kept{0, 1, 2, 5, 6, 7, 8}));
  std::vector<float> stored(unit.groups.front().store.dim());
  unit.groups.front().store.key(unit.cache.slots().slot_of(5), stored.data());
  const std::vector<float>& came_with = rolling.seen.keys.at(7);
  EXPECT_EQ(stored,
            std::vector<float>(came_with.begin(),
                               came_with.begin() + static_cast<std::ptrdiff_t>(stored.size())));
}

// intel/neural-speed, docs/infinite_inference.md, "Shift-RoPE-K and Ring-Buffer": n_keep = 4, n_ctx
// = 16, n_discard = 1. The picture itself is not in the text that is left of it. Its caption says
// that "every token left" is moved one closer; the 4 that are kept must not be, or the first would
// stand at -1, so they are not.
class ShiftPicture : public WorkedPositions {
 protected:
  const std::string ring_ = "@shift-ring:sinks=4,recent=12";

  static std::vector<float> key_at(const ModelUnit& unit, std::size_t rank) {
    std::vector<float> key(unit.groups.front().store.dim());
    unit.groups.front().store.key(unit.cache.slots().slot_of(rank), key.data());
    return key;
  }

  // Feeds `tokens` tokens to the ring, and its residents alone to a dense cache.
  void expect_fresh_keys(Position tokens) {
    const Fed ring = run(test::small_llama(), ring_, tokens_at(from_to(0, tokens - 1)));
    const ModelUnit& unit = ring.decoder.attention().units().front();
    const Kept residents = listed(unit.cache.all());
    ASSERT_EQ(residents.size(), 16U);
    const Fed fresh = run(test::small_llama(), "dense", tokens_at(residents));
    for (std::size_t rank = 0; rank < 16; ++rank) {
      EXPECT_EQ(unit.groups.front().places[unit.cache.slots().slot_of(rank)], rank);
      expect_near(key_at(unit, rank), key_at(fresh.decoder.attention().units().front(), rank),
                  1e-5F);
    }
    // "As long as the K-cache and V-cache are shuffled identically, the attention will output the
    // same": the ring's slots are not in the order of the stream, and the row is.
    EXPECT_LT(apart(ring.seen, fresh.seen), 1e-5F);
  }
};

TEST_F(ShiftPicture, TheSeventeenthTokenMovesTwelveKeysOnePositionCloser) {
  Decoder& decoder = run(test::small_llama(), ring_, tokens_at(from_to(0, 15))).decoder;
  const ModelUnit& unit = decoder.attention().units().front();
  std::vector<std::vector<float>> before;
  for (std::size_t rank = 0; rank < 16; ++rank) before.push_back(key_at(unit, rank));
  ASSERT_EQ(listed(unit.cache.all()), from_to(0, 15));

  ASSERT_TRUE(decoder.feed(tokens_at({16})));
  EXPECT_EQ(listed(unit.cache.all()),
            (Kept{0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}));
  EXPECT_EQ(unit.cache.slots().slot_of(15), 4U) << "the newcomer takes the place of token 4";
  for (std::size_t rank = 0; rank < 4; ++rank) EXPECT_EQ(key_at(unit, rank), before[rank]) << rank;
  for (std::size_t rank = 4; rank < 15; ++rank) {
    EXPECT_NE(key_at(unit, rank), before[rank + 1]) << "rotated back by one: " << rank;
  }
  expect_fresh_keys(17);
}

TEST_F(ShiftPicture, TheRingWrapsAroundBehindWhatIsKept) {
  Decoder& decoder = run(test::small_llama(), ring_, tokens_at(from_to(0, 15))).decoder;
  const ModelUnit& unit = decoder.attention().units().front();
  for (Position token = 16; token < 60; ++token) {
    ASSERT_TRUE(decoder.feed(tokens_at({token})));
    EXPECT_EQ(unit.cache.slots().slot_of(15), 4 + (token - 4) % 12) << token;
  }
  expect_fresh_keys(60);
}

}  // namespace
}  // namespace kv::model
