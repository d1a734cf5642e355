// Which tokens are in full precision, and when: exactly the newest tokens and the sinks, for any
// division into chunks.
#include <cmath>
#include <set>

#include "kvcheck/base/random/rng.h"
#include "kvcheck/model/decoder/decoder.h"
#include "kvcheck/model/storage/kv_store.h"
#include "kvcheck/tests/model/feeding.h"
#include "kvcheck/tests/model/small_models.h"

namespace kv::model {
namespace {

using namespace testing;

constexpr std::size_t dim = 6;

std::vector<float> vector_of(Position position) {
  const Rng rng(position + 1);
  std::vector<float> vector(dim);
  for (std::size_t i = 0; i < dim; ++i) {
    vector[i] = static_cast<float>(rng.normal(static_cast<Position>(i)));
  }
  return vector;
}

// A store that sees `tokens` tokens one by one, all of which stay but for those of `gone`.
struct Fed {
  KvStore store;
  std::vector<Position> there{};

  Fed(std::string_view words, Position tokens, const std::set<Position>& gone = {})
      : store(parse_kv_format(words).value(), dim) {
    for (Position query = 0; query < tokens; ++query) {
      const std::vector<float> vector = vector_of(query);
      store.put(query, vector.data(), vector.data());
      if (!gone.contains(query)) there.push_back(query);
      settle(query);
    }
  }

  // Tokens lie in the slots of their positions.
  void settle(Position query) {
    std::vector<Position> seen = there;
    if (seen.empty() || seen.back() != query) seen.push_back(query);
    const Visible visible{.sinks = {0, 0}, .middle = seen, .recent = {query + 1, query + 1}};
    store.settle(query, visible, seen);
  }

  // The positions whose keys, or values, are as they were fed.
  [[nodiscard]] std::vector<Position> exact(bool keys) const {
    std::vector<Position> found;
    std::vector<float> held(dim);
    for (const Position position : there) {
      if (keys) store.key(position, held.data());
      if (!keys) store.value(position, held.data());
      if (held == vector_of(position)) found.push_back(position);
    }
    return found;
  }
};

TEST(Residual, KeepsExactlyTheNewestAndTheSinks) {
  for (const bool keys : {false, true}) {
    EXPECT_THAT(Fed("int4", 20).exact(keys), IsEmpty());
    EXPECT_THAT(Fed("int4:recent=1", 20).exact(keys), ElementsAre(19));
    EXPECT_THAT(Fed("int8:recent=3", 20).exact(keys), ElementsAre(17, 18, 19));
    EXPECT_THAT(Fed("int4:recent=3,sinks=2", 20).exact(keys), ElementsAre(0, 1, 17, 18, 19));
    EXPECT_THAT(Fed("int4:sinks=2", 20).exact(keys), ElementsAre(0, 1));
    EXPECT_THAT(Fed("int4:recent=3,sinks=2", 3).exact(keys), ElementsAre(0, 1, 2));
    EXPECT_EQ(Fed("int4:recent=20", 20).exact(keys).size(), 20U);
  }
}

TEST(Residual, KeysOfKiviWaitForAWholeQuantisationGroup) {
  constexpr std::string_view words = "kivi4:recent=3,sinks=2,group=4";
  EXPECT_THAT(Fed(words, 20).exact(false), ElementsAre(0, 1, 17, 18, 19));
  // Groups are 2 to 5, 6 to 9, 10 to 13 and 14 to 17.
  EXPECT_THAT(Fed(words, 20).exact(true), ElementsAre(0, 1, 14, 15, 16, 17, 18, 19));
  EXPECT_THAT(Fed(words, 21).exact(true), ElementsAre(0, 1, 18, 19, 20));
}

TEST(Residual, AnEvictedTokenIsNotQuantisedWithItsGroup) {
  // 3 and 4 are missing, so that 2 and 5 alone make the first group's steps.
  const Fed both("kivi4:recent=0,group=4,sinks=2", 6, {3, 4});
  std::vector<float> held(dim);
  both.store.key(2, held.data());
  for (std::size_t i = 0; i < dim; ++i) {
    // Two numbers are the ends of their range.
    const double range = std::abs(vector_of(2)[i] - vector_of(5)[i]);
    EXPECT_NEAR(held[i], vector_of(2)[i], (range + std::abs(vector_of(2)[i]) / 64) / 29);
  }
}

std::vector<TokenId> some_tokens(std::size_t count) {
  std::vector<TokenId> tokens;
  for (std::size_t i = 0; i < count; ++i)
    tokens.push_back(static_cast<TokenId>(i * i * 5 % 29 + 2));
  return tokens;
}

LanguageModel opened(const test::SmallModel& small) {
  return open_model(small.write("residual-model")).value();
}

std::vector<float> logits_of(const LanguageModel& model,
                             const std::string& spec,
                             std::size_t chunk,
                             std::string_view storage,
                             KeyStorage keys = KeyStorage::rotated) {
  DecoderOptions options;
  options.storage = parse_kv_format(storage).value();
  options.keys = keys;
  return logits_in_chunks(model, spec, some_tokens(50), chunk, options);
}

TEST(Residual, DoesNotDependOnTheChunk) {
  const LanguageModel model = opened(test::small_llama());
  for (const std::string storage :
       {"int4", "int4:recent=5", "int8:recent=3,sinks=2", "int4:sinks=3", "int8:group=2",
        "kivi2:recent=6,group=4", "kivi4:recent=0,group=3,sinks=1", "int4:recent=9,full=f16"}) {
    for (const std::string spec :
         {"dense", "h2o:recent=4,budget=12;visibility=window;positions=in-cache",
          "streaming:sinks=2,recent=8;visibility=window",
          "tova:recent=1,budget=9;visibility=window",
          "reservoir:recent=4,budget=12;visibility=window;unit=layer"}) {
      for (const KeyStorage keys : {KeyStorage::rotated, KeyStorage::raw}) {
        const std::vector<float> one = logits_of(model, spec, 1, storage, keys);
        for (const std::size_t chunk : {3U, 50U}) {
          EXPECT_EQ(logits_of(model, spec, chunk, storage, keys), one) << spec << " " << storage;
        }
      }
    }
  }
}

TEST(Residual, ThatCoversTheTextLosesNothing) {
  const LanguageModel model = opened(test::small_gpt_neox());
  for (const std::string spec :
       {"dense", "h2o:budget=12", "streaming:budget=9;positions=shifted"}) {
    const std::vector<float> exact = logits_of(model, spec, 5, "f32");
    for (const std::string storage :
         {"int4:recent=50", "int8:sinks=50", "int4:recent=30,sinks=20"}) {
      EXPECT_EQ(logits_of(model, spec, 5, storage), exact) << spec << " " << storage;
    }
    EXPECT_NE(logits_of(model, spec, 5, "int4:recent=8"), exact) << spec;
    EXPECT_NE(logits_of(model, spec, 5, "int4:sinks=8"), exact) << spec;
  }
}

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    most = std::max(most, static_cast<double>(std::abs(a[i] - b[i])));
  }
  return most;
}

TEST(Residual, FinerCodesAndALongerResidualLoseLess) {
  const LanguageModel model = opened(test::small_gpt_neox());
  const std::vector<float> exact = logits_of(model, "dense", 5, "f32");
  const auto loss = [&](std::string_view storage) {
    return largest_difference(logits_of(model, "dense", 5, storage), exact);
  };
  EXPECT_LT(loss("int8:group=4"), loss("int4"));
  EXPECT_LT(loss("kivi4:recent=0"), loss("kivi2:recent=0"));
  EXPECT_LT(loss("int4:recent=40"), loss("int4"));
  EXPECT_LT(loss("kivi2:recent=48,group=1"), loss("kivi2:recent=0"));
}

TEST(Residual, AConstantCacheRemainsConstant) {
  const LanguageModel model = opened(test::small_llama());
  for (const std::string storage : {"int4:recent=4,sinks=2", "kivi2:recent=4,group=4"}) {
    DecoderOptions options;
    options.storage = parse_kv_format(storage).value();
    const Spec spec = parse_spec("streaming:sinks=2,recent=14").value();
    Decoder decoder = Decoder::create(model, spec, options).value();
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < 400; ++i) {
      ASSERT_TRUE(decoder.feed(std::vector<TokenId>{static_cast<TokenId>(i % 32)}));
      if (i == 40) bytes = decoder.attention().bytes();
      if (i > 40) {
        EXPECT_EQ(decoder.attention().bytes(), bytes) << storage;
      }
    }
  }
}

TEST(Residual, IsRefusedWhereItCannotBeKept) {
  const LanguageModel model = opened(test::small_llama());
  DecoderOptions options;
  options.storage = parse_kv_format("kivi2").value();
  const auto shifted =
      Decoder::create(model, parse_spec("streaming;positions=shifted").value(), options);
  ASSERT_FALSE(shifted);
  EXPECT_THAT(shifted.error().message, HasSubstr("share a scale with other tokens'"));
  options.keys = KeyStorage::rotated_f16;
  options.storage = parse_kv_format("int4").value();
  const auto halves =
      Decoder::create(model, parse_spec("streaming;positions=shifted").value(), options);
  ASSERT_FALSE(halves);
  EXPECT_THAT(halves.error().message, HasSubstr("expected f16 as storage"));
  options.keys = KeyStorage::rotated;
  const Spec pages = parse_spec("dense;visibility=top-pages:8/4/0").value();
  EXPECT_TRUE(Decoder::create(model, pages, options));
  for (const std::string storage : {"int4:recent=4", "int8:sinks=1", "kivi4"}) {
    options.storage = parse_kv_format(storage).value();
    const auto ranked = Decoder::create(model, pages, options);
    ASSERT_FALSE(ranked) << storage;
    EXPECT_THAT(ranked.error().message, HasSubstr("visibility=top-pages")) << storage;
  }
}

}  // namespace
}  // namespace kv::model
