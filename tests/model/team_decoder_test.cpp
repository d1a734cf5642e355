// A decoder whose steps are divided among threads gives the same bits as one on a single thread.
#include <chrono>
#include <map>
#include <mutex>
#include <thread>

#include "kvcheck/model/decoder/decoder.h"
#include "kvcheck/policies/registry/registry.h"
#include "kvcheck/tests/model/small_models.h"

namespace kv::model {
namespace {

// Every step is divided, however small it is.
std::shared_ptr<Team> team_of(std::size_t threads, const std::function<void()>& before_part = {}) {
  return std::make_shared<Team>(threads, TeamOptions{.least_cost = 1, .before_part = before_part});
}

std::vector<float> logits_of(const LanguageModel& model,
                             const Spec& spec,
                             const DecoderOptions& options) {
  Decoder decoder = Decoder::create(model, spec, options).value();
  std::vector<float> logits;
  std::vector<TokenId> chunk;
  for (TokenId i = 0; i < 40; ++i) {
    chunk.push_back(i * i * 7 % 31 + 1);
    if (chunk.size() < spec.chunk && i < 39) continue;
    EXPECT_TRUE(decoder.feed(chunk));
    logits.insert(logits.end(), decoder.logits().begin(), decoder.logits().end());
    chunk.clear();
  }
  return logits;
}

void expect_same_bits(const LanguageModel& model, const Spec& spec, DecoderOptions options) {
  const std::vector<float> expected = logits_of(model, spec, options);
  for (const std::size_t threads : {2U, 3U, 5U}) {
    options.team = team_of(threads);
    ASSERT_EQ(logits_of(model, spec, options), expected) << spec.canonical() << " " << threads;
  }
}

TEST(TeamDecoder, GivesTheSameBitsUnderEveryPolicy) {
  const LanguageModel model = open_model(test::small_llama().write("team")).value();
  std::vector<TokenClass> classes;
  for (std::size_t i = 0; i < 32; ++i) classes.push_back(static_cast<TokenClass>(i % 3));
  DecoderOptions options;
  options.token_classes = std::make_shared<const std::vector<TokenClass>>(classes);
  std::size_t tried = 0;
  for (const PolicyEntry& policy : policy_registry()) {
    const bool bounded = policy.protection.middle != Protection::Middle::unbounded;
    const std::string name = std::string(policy.name) + (bounded ? ":budget=12" : "");
    for (const std::string settings :
         {";chunk=1", ";chunk=7;timing=trim-then-attend", ";chunk=20;timing=lazy:3",
          ";chunk=7;positions=in-cache", ";chunk=5;positions=shifted", ";chunk=7;unit=head",
          ";chunk=7;unit=layer", ";chunk=1;unit=model", ";chunk=7;budgets=adaptive:0.2"}) {
      const auto spec = parse_spec(name + settings);
      if (!spec) continue;
      if (!Decoder::create(model, *spec, options)) continue;
      expect_same_bits(model, *spec, options);
      ++tried;
    }
  }
  EXPECT_GT(tried, 150U);
}

// Parts this small are usually all done before another thread is awake; here each waits a little,
// so that threads which shared scratch would write over each other's.
TEST(TeamDecoder, GivesTheSameBitsWhereAllThreadsTakePart) {
  const LanguageModel model = open_model(test::small_llama().write("team-together")).value();
  std::mutex mutex;
  std::map<std::thread::id, std::size_t> parts;
  const auto count_and_wait = [&] {
    {
      const std::lock_guard lock(mutex);
      ++parts[std::this_thread::get_id()];
    }
    const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(3);
    while (std::chrono::steady_clock::now() < until) std::this_thread::yield();
  };
  for (const std::string spec :
       {"dense;chunk=20", "h2o:budget=12;chunk=1", "streaming:budget=12;chunk=5;positions=shifted",
        "keydiff:budget=12;chunk=4", "window:budget=12;chunk=7;positions=in-cache",
        "random:budget=12;unit=head", "dense;visibility=top-pages:4/2/0;chunk=3"}) {
    const Spec parsed = parse_spec(spec).value();
    const std::vector<float> expected = logits_of(model, parsed, {});
    ASSERT_EQ(logits_of(model, parsed, {.team = team_of(2, count_and_wait)}), expected) << spec;
  }
  ASSERT_GE(parts.size(), 2U);
  for (const auto& [thread, count] : parts) EXPECT_GT(count, 10U);
}

TEST(TeamDecoder, GivesTheSameBitsInEveryStorage) {
  const LanguageModel model = open_model(test::small_llama().write("team-storage")).value();
  const Spec spec = parse_spec("h2o:sinks=1,recent=4,budget=12;chunk=3").value();
  for (const std::string_view storage : {"f32", "f16", "bf16", "int8"}) {
    expect_same_bits(model, spec, {.storage = parse_kv_format(storage).value()});
  }
  expect_same_bits(model, spec, {.keys = KeyStorage::raw});
}

// An observer meets queries in their order, from one thread.
TEST(TeamDecoder, ObserversSeeTheSame) {
  class Rows final : public AttentionObserver {
   public:
    void on_row(std::size_t layer,
                std::size_t head,
                Position query,
                const Visible& visible,
                std::span<const float> mass) override {
      seen.insert(seen.end(), {static_cast<float>(layer), static_cast<float>(head),
                               static_cast<float>(query), static_cast<float>(visible.size())});
      seen.insert(seen.end(), mass.begin(), mass.end());
    }

    std::vector<float> seen;
  };

  const LanguageModel model = open_model(test::small_llama().write("team-observer")).value();
  const Spec spec = parse_spec("streaming:sinks=2,recent=6;chunk=4").value();
  Rows alone;
  logits_of(model, spec, {.observer = &alone});
  Rows together;
  logits_of(model, spec, {.observer = &together, .team = team_of(3)});
  EXPECT_GT(alone.seen.size(), 1000U);
  EXPECT_EQ(together.seen, alone.seen);
}

}  // namespace
}  // namespace kv::model
