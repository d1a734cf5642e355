// The worked examples that sources print, with their numbers: which tokens are resident and which
// are visible. What they say of positions is in tests/model/worked_examples_test.cpp.
#include <memory>

#include "kvcheck/sim/spec/spec.h"
#include "kvcheck/tests/policies/draws.h"
#include "kvcheck/tests/sim/listed.h"

namespace kv {
namespace {

using Kept = std::vector<Position>;
using Asked = ScriptedDraws::Asked;

// A cache and the script that its policy draws from.
struct Example {
  explicit Example(const std::string& spec, std::deque<std::uint64_t> numbers = {})
      : script(std::make_unique<ScriptedDraws>()),
        draws(*script),
        cache(parse_spec(spec).value(), std::move(script)) {
    draws.numbers = std::move(numbers);
  }

  // The next token alone; returns what its query sees.
  Kept generate() {
    cache.begin_chunk(1);
    Kept seen = listed(cache.next_query());
    cache.end_chunk();
    return seen;
  }

  // Several tokens, each generated; returns what the last one sees.
  Kept generate(std::size_t tokens) {
    Kept seen;
    for (std::size_t i = 0; i < tokens; ++i) seen = generate();
    return seen;
  }

  // A chunk; returns what each of its queries sees.
  std::vector<Kept> feed(std::size_t tokens) {
    std::vector<Kept> seen;
    cache.begin_chunk(tokens);
    for (std::size_t i = 0; i < tokens; ++i) seen.push_back(listed(cache.next_query()));
    cache.end_chunk();
    return seen;
  }

  std::unique_ptr<ScriptedDraws> script;
  ScriptedDraws& draws;
  UnitCache cache;
};

// Pan et al., "An Experiment of Implementing Reservoir Sampling to StreamingLLM", section 4, figure
// 4 and the text below it: start_size = sample_size = recent_size = 2, so at most 6 are kept. The
// token that is generated counts in total_num and is one of the two recent ones, so room is made
// before it attends.
const std::string figure_4 = ":sinks=2,recent=2,budget=6;timing=trim-then-attend";

TEST(WorkedExamples, Figure4OfTheReservoirPaper) {
  // The chances that the text prints, as draws: 4 enters (with 2/3) in the place of 2 (1/2); 5 does
  // not (1/2); 6 enters (2/5) in the place of 3 (1/2).
  Example example("reservoir" + figure_4, {1, 0, 2, 1, 0});
  EXPECT_EQ(example.generate(6), (Kept{0, 1, 2, 3, 4, 5})) << "below the limit all stay";
  EXPECT_EQ(example.generate(), (Kept{0, 1, 3, 4, 5, 6})) << "generating token 6";
  EXPECT_EQ(example.generate(), (Kept{0, 1, 3, 4, 6, 7})) << "generating token 7";
  EXPECT_EQ(example.generate(), (Kept{0, 1, 4, 6, 7, 8})) << "generating token 8";
  // A draw below 2 of 3 = 7 - 2 - 2, of 4 = 8 - 2 - 2 and of 5 = 9 - 2 - 2: formula (1). One of 2
  // for the token that an entrant replaces: formula (2).
  EXPECT_EQ(example.draws.asked,
            (std::vector<Asked>{{3, 4, 0}, {2, 4, 1}, {4, 5, 0}, {5, 6, 0}, {2, 6, 1}}));
}

// The preset is the paper's text but for its sizes.
TEST(WorkedExamples, Figure4IsThePresetAtItsSizes) {
  const Spec preset = parse_spec("@reservoir:sinks=2,recent=2,budget=6").value();
  const Spec example = parse_spec("reservoir" + figure_4).value();
  EXPECT_EQ(preset.policy, example.policy);
  EXPECT_EQ(preset.timing, example.timing);
  EXPECT_EQ(preset.middle(), example.middle());
}

// The listing in figure 2 contradicts figure 4: it samples what is left in the middle, so it draws
// from 3 every time, and token 7 and 8 are not given the 1/2 and 2/5 that the text works out.
TEST(WorkedExamples, TheReservoirPapersListingDrawsFromThreeEveryTime) {
  Example example("reservoir-as-printed" + figure_4, {0, 2, 1});
  EXPECT_EQ(example.generate(7), (Kept{0, 1, 3, 4, 5, 6}));
  EXPECT_EQ(example.generate(), (Kept{0, 1, 3, 4, 6, 7}));
  EXPECT_EQ(example.generate(), (Kept{0, 1, 3, 6, 7, 8}));
  EXPECT_EQ(example.draws.asked, (std::vector<Asked>{{3, 4, 0}, {3, 5, 0}, {3, 6, 0}}));
}

// A blog on StreamingLLM, section on the remedy, after figure 4 of Xiao et al.: a cache of 8 with
// four sinks. Generating token 7 everything is in the cache; generating token 8 the first four
// stay, 4 is skipped.
TEST(WorkedExamples, TheCacheOfEightOfStreamingLlm) {
  Example example("@streaming-llm:sinks=4,recent=4;timing=trim-then-attend");
  EXPECT_EQ(example.generate(8), from_to(0, 7)) << "generating token 7";
  EXPECT_EQ(example.generate(), (Kept{0, 1, 2, 3, 5, 6, 7, 8})) << "generating token 8";
  // The paper's picture goes on for one more token.
  EXPECT_EQ(example.generate(), (Kept{0, 1, 2, 3, 6, 7, 8, 9})) << "generating token 9";
}

// The same blog on pages: of a page of 16 that is never evicted only 4 tokens are sinks, so 12
// more are kept.
TEST(WorkedExamples, APinnedFirstPageKeepsTwelveTokensMoreThanItsSinks) {
  Example pinned("pages:sinks=4,recent=16,budget=48,page=16,first-page=pinned");
  static_cast<void>(pinned.generate(200));
  Example freed("pages:sinks=4,recent=16,budget=48,page=16,first-page=freed");
  static_cast<void>(freed.generate(200));
  const auto of_the_first_page = [](const UnitCache& cache) {
    std::size_t count = 0;
    for (const Position p : listed(cache.all())) count += p < 16 ? 1U : 0U;
    return count;
  };
  Example masked("pages:sinks=4,recent=16,budget=48,page=16,first-page=masked");
  static_cast<void>(masked.generate(200));
  EXPECT_EQ(of_the_first_page(pinned.cache), 16U);
  EXPECT_EQ(of_the_first_page(freed.cache), 4U);
  // Twelve more are stored though none of them is seen.
  EXPECT_EQ(listed(masked.cache.all()), listed(freed.cache.all()));
  EXPECT_EQ(masked.cache.stored(), freed.cache.stored() + 12);
}

// A walkthrough of a rolling cache for GPT-2: 3 sinks, at most 7 tokens.
//
//   [Hmm, okay, so, this, is, some, input] -> "text"
//   [Hmm, okay, so, is, some, input, text] -> "and"
//   [Hmm, okay, so, some, input, text, and] -> "this"
//
// The text says that the end of the queue is discarded; its lists, and its cut off the beginning of
// the dimension of tokens, discard the queue's beginning, which is what a queue does.
TEST(WorkedExamples, TheRollingCacheOfSevenWords) {
  const std::vector<std::string> words = {"Hmm",  "okay",  "so",   "this", "is",
                                          "some", "input", "text", "and"};
  const auto read = [&](const Kept& seen) {
    std::vector<std::string> out;
    for (const Position p : seen) out.push_back(words[p]);
    return out;
  };
  using Words = std::vector<std::string>;
  Example example("@gpt2-rolling");
  // The first seven run through the layers together.
  EXPECT_EQ(read(example.feed(7).back()),
            (Words{"Hmm", "okay", "so", "this", "is", "some", "input"}));
  EXPECT_EQ(read(example.generate()), (Words{"Hmm", "okay", "so", "is", "some", "input", "text"}));
  EXPECT_EQ(read(example.generate()), (Words{"Hmm", "okay", "so", "some", "input", "text", "and"}));
  EXPECT_EQ(example.cache.stored(), 7U) << "the 3 sinks and the last 4 tokens";
}

// A reimplementation of StreamingLLM on Pythia-2.8b, its fourth bug: chunks of 10, a window of 10
// and 10 sinks. "The 31st token should see only 0~10 and 21~30, these 20 tokens", and sees, by the
// faulty mask, "0~10 and 21~30, these 30 tokens". The numbers do not fit each other: 0~10 are 11
// tokens, and both lists are the same. Counting from 1 as in "the 31st", it should see 1-10 and
// 21-30, and itself; the mask of 30 columns also shows it 32-40, its own chunk's future. The
// physical cache then holds 30: the 20, and the chunk.
TEST(WorkedExamples, TheThirtyFirstTokenOfAChunkedStreamSeesTwentyAndItself) {
  Example example("streaming:sinks=10,recent=10;timing=attend-then-trim;chunk=10");
  for (int chunk = 0; chunk < 3; ++chunk) static_cast<void>(example.feed(10));
  Kept twenty = from_to(0, 9);
  for (const Position p : from_to(20, 29)) twenty.push_back(p);
  EXPECT_EQ(listed(example.cache.all()), twenty) << "10 have been cut, as the source says";

  const std::vector<Kept> seen = example.feed(10);
  Kept expected = twenty;
  for (Position query = 30; query < 40; ++query) {
    expected.push_back(query);
    EXPECT_EQ(seen[query - 30], expected) << "the token at " << query;
  }
  EXPECT_EQ(seen.front().size(), 21U);
  EXPECT_EQ(seen.back().size(), 30U) << "only the last of the chunk sees 30";
}

}  // namespace
}  // namespace kv
