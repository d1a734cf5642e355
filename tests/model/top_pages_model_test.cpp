// visibility=top-pages in the decoder: bounds of the keys as they are stored, what does not matter,
// and the pages that a replay of the same numbers selects.
#include <array>
#include <map>

#include "kvcheck/base/random/rng.h"
#include "kvcheck/model/attention/rope_cache.h"
#include "kvcheck/model/run/record.h"
#include "kvcheck/sim/cache/page_selection.h"
#include "kvcheck/sim/replay/replay.h"
#include "kvcheck/tests/model/feeding.h"
#include "kvcheck/tests/model/small_models.h"
#include "kvcheck/tests/traces/files.h"

namespace kv::model {
namespace {

using testing::HasSubstr;

constexpr std::size_t text_tokens = 48;

std::vector<TokenId> some_tokens(std::size_t count) {
  std::vector<TokenId> tokens;
  for (std::size_t i = 0; i < count; ++i)
    tokens.push_back(static_cast<TokenId>(i * i * 7 % 31 + 1));
  return tokens;
}

Decoder decoder_of(const LanguageModel& model, const std::string& spec, DecoderOptions options) {
  return Decoder::create(model, parse_spec(spec).value(), options).value();
}

std::vector<float> logits_of(const LanguageModel& model,
                             const std::string& spec,
                             const DecoderOptions& options = {}) {
  const std::size_t chunk = parse_spec(spec).value().chunk;
  return logits_in_chunks(model, spec, some_tokens(text_tokens), chunk, options);
}

std::vector<DecoderOptions> storages() {
  std::vector<DecoderOptions> all;
  for (const std::string_view words : {"f32", "f16", "int8"}) {
    const KvFormat storage = parse_kv_format(words).value();
    for (const KeyStorage keys : {KeyStorage::rotated, KeyStorage::raw}) {
      all.push_back({.storage = storage, .keys = keys});
    }
  }
  return all;
}

class TopPagesModel : public testing::Test {
 protected:
  TopPagesModel() : model_(open_model(test::small_llama().write("top-pages-model")).value()) {}

  LanguageModel model_;
};

TEST_F(TopPagesModel, IsDenseToTheLastBitWhereEverythingFits) {
  for (const DecoderOptions& options : storages()) {
    const std::vector<float> dense = logits_of(model_, "dense", options);
    EXPECT_EQ(logits_of(model_, "dense;visibility=top-pages:48/16/0", options), dense);
    EXPECT_NE(logits_of(model_, "dense;visibility=top-pages:16/4/0", options), dense);
  }
}

TEST_F(TopPagesModel, DoesNotDependOnTheChunkOrTheUnit) {
  const std::string spec = "dense;visibility=top-pages:12/4/1";
  const std::vector<float> logits = logits_of(model_, spec);
  EXPECT_NE(logits, logits_of(model_, "dense"));
  for (const std::string other : {";chunk=7", ";chunk=48", ";unit=head", ";unit=layer;chunk=5"}) {
    EXPECT_EQ(logits_of(model_, spec + other), logits) << other;
  }
}

TEST_F(TopPagesModel, LeavesOneLayerAtLeastToSelectIn) {
  const Spec spec = parse_spec("@quest").value();
  const auto refused = Decoder::create(model_, spec, {});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("expected fewer, as in visibility=top-pages:"));
}

// For every storage: the numbers that are attended to, not those that were fed.
TEST_F(TopPagesModel, BoundsTheKeysAsTheyAreStored) {
  const std::size_t dim = model_.config.head_dim;
  for (const DecoderOptions& options : storages()) {
    Decoder decoder = decoder_of(model_, "dense;visibility=top-pages:8/4/0", options);
    ASSERT_TRUE(decoder.feed(some_tokens(text_tokens)));
    RopeCache rope(model_.config.rope, rope_frequencies(model_.config));
    rope.reserve(text_tokens);
    for (const ModelUnit& unit : decoder.attention().units()) {
      const KvHeadGroup& group = unit.groups.front();
      PageChoice pages = group.pages.value();
      ASSERT_EQ(pages.tokens(), text_tokens);
      for (std::uint32_t q = 0; q < 20; ++q) {
        std::vector<float> query(dim);
        for (std::size_t d = 0; d < dim; ++d) {
          query[d] = static_cast<float>(Rng(3, q).normal(static_cast<Position>(d)));
        }
        float most = -1e30F;
        for (Position p = 0; p < text_tokens; ++p) {
          std::vector<float> key(dim);
          std::vector<float> rotated(dim);
          group.store.key(unit.cache.slots().slot_of(p), key.data());
          rope.rotate(key.data(), dim, p, rotated.data());
          const bool raw = options.keys == KeyStorage::raw;
          float logit = 0;
          kernels().dot_rows(query.data(), (raw ? rotated : key).data(), 1, dim, 1.0F, &logit);
          most = p % 4 == 0 ? logit : std::max(most, logit);
          EXPECT_GE(pages.bound(p / 4, query.data()), most);
        }
      }
    }
  }
}

// What each query of layer 0 attended to, and its rows.
class LayerZero final : public AttentionObserver {
 public:
  void on_row(std::size_t layer,
              std::size_t head,
              Position query,
              const Visible& visible,
              std::span<const float> mass) override {
    if (layer > 0) return;
    std::map<Position, float>& row = rows_[{head, query}];
    auto next = mass.begin();
    for (Position p = visible.sinks.first; p < visible.sinks.last; ++p) row[p] = *next++;
    for (const Position p : visible.middle) row[p] = *next++;
    for (Position p = visible.recent.first; p < visible.recent.last; ++p) row[p] = *next++;
  }

  [[nodiscard]] const std::map<Position, float>& row(std::size_t head, Position query) const {
    return rows_.at({head, query});
  }

 private:
  std::map<std::pair<std::size_t, Position>, std::map<Position, float>> rows_;
};

// Layer 0 meets the same vectors whatever later layers do, so that a recording of the dense run
// must show the same pages.
TEST(TopPagesAgreement, AReplayAttendsToThePagesOfTheDecoder) {
  const std::string folder = test::small_llama_that_reads("top-pages-record");
  const LanguageModel model = open_model(folder).value();
  const auto tokenizer = open_tokenizer(folder, "", 258).value();
  const std::vector<TokenId> tokens = some_tokens(text_tokens);
  const std::string path = test::temporary_path("top-pages.safetensors");
  ASSERT_TRUE(record(model, *tokenizer, tokens, {.number = Number::f32}, path));
  const Trace trace = open_trace(path).value();
  const std::string spec = "dense;visibility=top-pages:12/4/0";
  const Cell cell = {parse_spec(spec).value(), 1};
  const ReplayResult replayed = replay(trace, std::array{cell}, {}).value();

  LayerZero dense;
  LayerZero selected;
  Decoder all = decoder_of(model, "dense", {.observer = &dense});
  Decoder few = decoder_of(model, spec, {.observer = &selected});
  ASSERT_TRUE(all.feed(tokens));
  ASSERT_TRUE(few.feed(tokens));
  for (const HeadResult& head : replayed.cells[0].heads) {
    if (head.layer > 0) continue;
    double mass = 0;
    for (Position query = 0; query < tokens.size(); ++query) {
      const auto& full = dense.row(head.head, query);
      EXPECT_EQ(full.size(), query + 1U);
      for (const auto& [p, weight] : selected.row(head.head, query)) {
        mass += static_cast<double>(full.at(p));
      }
    }
    mass /= static_cast<double>(tokens.size());
    EXPECT_NEAR(head.metrics.retained_mass, mass, 1e-6) << head.head;
    EXPECT_LT(mass, 0.95);
  }
}

}  // namespace
}  // namespace kv::model
