// Scores of a prompt while the model repeats it: against NumPy, and the same whatever the chunks,
// threads and storage of the run.
#include <algorithm>
#include <cstring>

#include "kvcheck/model/decoder/decoder.h"
#include "kvcheck/model/decoder/repeat_passes.h"
#include "kvcheck/tests/model/against_numpy.h"
#include "kvcheck/tests/model/small_models.h"

namespace kv::model {
namespace {

using testing::HasSubstr;

constexpr std::size_t prompt_tokens = 30;

std::vector<TokenId> prompt() {
  std::vector<TokenId> tokens;
  for (std::size_t i = 0; i < prompt_tokens; ++i)
    tokens.push_back(static_cast<TokenId>(i * i * 7 % 31 + 1));
  return tokens;
}

DecoderOptions options_with(std::vector<TokenId> request) {
  DecoderOptions options;
  options.marks.prompt = prompt_tokens;
  options.repeat_request = std::move(request);
  return options;
}

Decoder fed(const LanguageModel& model, const std::string& words, const DecoderOptions& options) {
  const Spec spec = parse_spec(words).value();
  Decoder decoder = Decoder::create(model, spec, options).value();
  const std::vector<TokenId> tokens = prompt();
  for (std::size_t at = 0; at < tokens.size();) {
    const std::size_t rows = decoder.next_chunk(tokens.size() - at);
    EXPECT_TRUE(decoder.feed(std::span(tokens).subspan(at, rows)));
    at += rows;
  }
  return decoder;
}

// By unit, then token. The scores are the last that a cache writes of its policy; a ratio of 1
// keeps those of all tokens.
std::vector<std::vector<float>> scores_of(const Decoder& decoder) {
  std::vector<std::vector<float>> all;
  for (const ModelUnit& unit : decoder.attention().units()) {
    ByteWriter writer;
    unit.cache.save(writer);
    const auto& bytes = writer.bytes();
    std::vector<float>& scores = all.emplace_back(unit.cache.residents());
    const std::size_t size = scores.size() * sizeof(float);
    std::memcpy(scores.data(), bytes.data() + (bytes.size() - size), size);
  }
  return all;
}

std::vector<std::vector<float>> scores_under(const LanguageModel& model,
                                             const std::string& settings,
                                             DecoderOptions options = options_with({3, 1, 4})) {
  return scores_of(fed(model, "kvzip:sinks=2,pass=11,ratio=1;compress=prompt" + settings, options));
}

std::vector<Position> residents_of(const ModelUnit& unit) {
  std::vector<Position> all;
  for_each_position(unit.cache.all(), [&](Position p) { all.push_back(p); });
  return all;
}

std::string words_of(const std::vector<TokenId>& tokens) {
  std::string words;
  for (const TokenId token : tokens) words += std::to_string(token) + " ";
  return words;
}

class Reconstruction : public NumpyTest {
 protected:
  // Whether the scores of the small llama are those of NumPy.
  static bool agrees(std::size_t sinks, std::size_t length, const std::vector<TokenId>& request) {
    const std::string folder = test::small_llama().write("reconstruction-model");
    const LanguageModel model = open_model(folder).value();
    const std::string sizes = "sinks=" + std::to_string(sinks) + ",pass=" + std::to_string(length);
    const Decoder decoder =
        fed(model, "kvzip:" + sizes + ",ratio=1;compress=prompt", options_with(request));
    std::string lines;
    for (const auto& unit : scores_of(decoder)) {
      for (const float score : unit) {
        std::array<char, 32> text{};
        std::snprintf(text.data(), text.size(), "%.9g ", static_cast<double>(score));
        lines += text.data();
      }
      lines += "\n";
    }
    const std::string files = test::fresh_folder("reconstruction");
    test::write_into(files, "prompt.txt", words_of(prompt()));
    test::write_into(files, "request.txt", words_of(request));
    test::write_into(files, "sizes.txt", std::to_string(sinks) + " " + std::to_string(length));
    test::write_into(files, "scores.txt", lines);
    return run_python("reference_reconstruction.py", folder + " " + files + " 1e-6");
  }
};

TEST_F(Reconstruction, ScoresAgreeWithNumPy) {
  EXPECT_TRUE(agrees(2, 11, {3, 1, 4}));
  EXPECT_TRUE(agrees(0, 30, {}));
  EXPECT_TRUE(agrees(4, 5, {9}));
}

TEST(RepeatPasses, CoverThePromptOnceWithTheTokensBeforeEachPart) {
  const std::vector<TokenId> tokens = prompt();
  const std::vector<TokenId> request = {7, 7};
  const auto passes = repeat_passes(tokens, 2, 12, request);
  ASSERT_EQ(passes.size(), 3U);
  EXPECT_EQ(passes[0].rows.first, 2U);
  EXPECT_EQ(passes[0].tokens.size(), 2U + 12);
  EXPECT_EQ(passes[1].rows.first, 14U);
  EXPECT_EQ(passes[1].tokens.size(), 2U + 8 + 12);
  EXPECT_EQ(passes[1].tokens[2], tokens[6]);
  EXPECT_EQ(passes[2].rows.last, prompt_tokens);
  EXPECT_EQ(passes[2].tokens.back(), tokens.back());
  EXPECT_TRUE(repeat_passes(tokens, prompt_tokens, 12, request).empty());
}

// The bits of a text do not depend on these.
TEST(RepeatedPrompt, ScoresDependOnNeitherChunksNorThreads) {
  const LanguageModel model = open_model(test::small_llama().write("repeated-chunks")).value();
  const auto expected = scores_under(model, ";chunk=1");
  EXPECT_EQ(expected.size(), 4U);
  EXPECT_EQ(scores_under(model, ";chunk=7"), expected);
  EXPECT_EQ(scores_under(model, ";chunk=64"), expected);
  EXPECT_EQ(scores_under(model, ";chunk=7;positions=in-cache"), expected);
  EXPECT_EQ(scores_under(model, ";chunk=7;budgets=adaptive:0"), expected);
  DecoderOptions options = options_with({3, 1, 4});
  for (const std::size_t threads : {2U, 3U}) {
    options.team = std::make_shared<Team>(threads, TeamOptions{.least_cost = 1, .before_part = {}});
    EXPECT_EQ(scores_under(model, ";chunk=7", options), expected);
  }
}

// A unit of more heads has the largest of their shares.
TEST(RepeatedPrompt, WiderUnitsTakeTheLargestOfTheirHeads) {
  const LanguageModel model = open_model(test::small_llama().write("repeated-units")).value();
  const auto largest = [](const auto& units, std::size_t first, std::size_t count) {
    std::vector<float> most(prompt_tokens);
    for (std::size_t unit = first; unit < first + count; ++unit) {
      for (std::size_t i = 0; i < most.size(); ++i) most[i] = std::max(most[i], units[unit][i]);
    }
    return most;
  };
  const auto heads = scores_under(model, ";unit=head");
  const auto kv_heads = scores_under(model, "");
  ASSERT_EQ(heads.size(), 8U);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(kv_heads[i], largest(heads, 2 * i, 2));
  EXPECT_EQ(scores_under(model, ";unit=layer")[1], largest(kv_heads, 2, 2));
  EXPECT_EQ(scores_under(model, ";unit=model")[0], largest(kv_heads, 0, 4));
}

// The passes leave nothing behind: what is kept are the highest scores, and the text goes on as
// with any policy that evicts the same tokens.
TEST(RepeatedPrompt, KeepsTheHighestScoresAndNoRowOfAPass) {
  const LanguageModel model = open_model(test::small_llama().write("repeated-kept")).value();
  const auto scores = scores_under(model, "");
  const Decoder decoder =
      fed(model, "kvzip:sinks=2,pass=11,ratio=0.5;compress=prompt", options_with({3, 1, 4}));
  EXPECT_EQ(decoder.seen(), prompt_tokens);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const ModelUnit& unit = decoder.attention().units()[i];
    std::vector<Position> ranked;
    for (Position p = 2; p < prompt_tokens; ++p) ranked.push_back(p);
    std::ranges::sort(ranked, [&](Position a, Position b) { return scores[i][a] > scores[i][b]; });
    ranked.resize(13);
    ranked.insert(ranked.end(), {0, 1});
    EXPECT_THAT(residents_of(unit), testing::UnorderedElementsAreArray(ranked));
    EXPECT_EQ(unit.cache.slots().used(), prompt_tokens);
  }
}

TEST(RepeatedPrompt, LogitsOfThePromptAreThoseOfAnyPolicy) {
  const LanguageModel model = open_model(test::small_llama().write("repeated-logits")).value();
  for (const std::string chunk : {";chunk=1", ";chunk=8"}) {
    const Decoder repeated =
        fed(model, "kvzip:ratio=0.5;compress=prompt" + chunk, options_with({5}));
    const Decoder plain = fed(model, "window:ratio=0.5;compress=prompt" + chunk, options_with({}));
    EXPECT_TRUE(std::ranges::equal(repeated.logits(), plain.logits()));
  }
}

// Rows that wait in full precision are quantised in the copy alone.
TEST(RepeatedPrompt, PassesLeaveStoredRowsAsTheyWere) {
  const LanguageModel model = open_model(test::small_llama().write("repeated-storage")).value();
  for (const std::string_view storage :
       {"f16", "int8", "int4:recent=5", "kivi4:recent=4,group=4"}) {
    DecoderOptions options = options_with({5});
    options.storage = parse_kv_format(storage).value();
    Decoder repeated = fed(model, "kvzip:ratio=1;compress=prompt;chunk=8", options);
    Decoder plain = fed(model, "window:ratio=1;compress=prompt;chunk=8", options);
    for (const TokenId token : {9, 2}) {
      EXPECT_TRUE(repeated.feed({&token, 1}));
      EXPECT_TRUE(plain.feed({&token, 1}));
      EXPECT_TRUE(std::ranges::equal(repeated.logits(), plain.logits())) << storage;
    }
  }
}

TEST(RepeatedPrompt, OtherPhasesAreRefused) {
  const LanguageModel model = open_model(test::small_llama().write("repeated-phases")).value();
  const auto error = [&](const std::string& settings) {
    const auto made =
        Decoder::create(model, parse_spec("kvzip:budget=8" + settings).value(), options_with({}));
    return made ? std::string() : made.error().message;
  };
  for (const std::string settings :
       {"", ";compress=never", ";compress=prompt+hold", ";compress=question+every:4"}) {
    EXPECT_THAT(error(settings), HasSubstr("expected compress=prompt or compress=question"));
  }
  EXPECT_EQ(error(";compress=prompt"), "");
  EXPECT_EQ(error(";compress=question"), "");
}

// A model of learned positions has none for a repetition that is longer than its context.
TEST(RepeatedPrompt, APassMayNotExceedLearnedPositions) {
  const LanguageModel model = open_model(test::small_gpt2().write("repeated-gpt2")).value();
  const Spec spec = parse_spec("kvzip:ratio=0.5;compress=prompt;chunk=64").value();
  const std::vector<TokenId> request(20, 1);
  Decoder decoder = Decoder::create(model, spec, options_with(request)).value();
  const auto fed = decoder.feed(prompt());
  ASSERT_FALSE(fed);
  EXPECT_THAT(fed.error().message,
              testing::AllOf(HasSubstr("repeats the prompt"), HasSubstr("position 79")));
}

}  // namespace
}  // namespace kv::model
