// The bundled model: what model/data/README.md says of it, on the held-out text beside it.
#include "kvcheck/model/run/evaluate.h"
#include "kvcheck/model/run/text_streams.h"
#include "kvcheck/tests/paths.h"
#include "kvcheck/tests/traces/files.h"

namespace kv::model {
namespace {

using namespace testing;

class Bundled : public Test {
 protected:
  explicit Bundled(const std::string& folder = "data")
      : folder_(KVCHECK_SOURCE_DIR "/model/" + folder),
        model_(open_model(folder_).value()),
        tokenizer_(open_tokenizer(folder_, "", model_.config.vocabulary).value()),
        text_(test::bytes_of_file(KVCHECK_SOURCE_DIR "/model/data/held-out.txt")) {}

  [[nodiscard]] ClosedLoopCell run(const std::string& spec,
                                   std::size_t tokens,
                                   std::size_t window) const {
    const TextOptions options = {
        .begin = model_.config.begin_token, .tokens = tokens, .window = window};
    const auto streams = streams_of(text_, *tokenizer_, options).value();
    std::vector<std::vector<RecallQuestion>> questions;
    for (const auto& stream : streams) questions.push_back(recall_questions(stream, *tokenizer_));
    const Cell cell{.spec = parse_spec(spec).value(), .seed = 1};
    const Evaluation done = evaluate(model_, cell.spec, streams, {}).value();
    return closed_loop_cell(cell, done, questions, 16);
  }

  // Of questions whose fact lies `first` to `last` - 1 tokens back.
  static double share(const ClosedLoopCell& cell, std::size_t first, std::size_t last) {
    RecallBin sum;
    for (const RecallBin& bin : cell.recall) {
      if (bin.first < first || bin.last > last) continue;
      sum.asked += bin.asked;
      sum.right += bin.right;
    }
    EXPECT_GT(sum.asked, 20U);
    return sum.share();
  }

  std::string folder_;
  LanguageModel model_;
  std::unique_ptr<Tokenizer> tokenizer_;
  std::string text_;
};

TEST_F(Bundled, NeedsItsSink) {
  const double window = run("window:budget=64", 1500, 0).perplexity();
  const double sink = run("streaming:sinks=1,budget=64;positions=in-cache", 1500, 0).perplexity();
  EXPECT_GT(window, 1.5 * sink) << window << " and " << sink;
  EXPECT_LT(sink, 4);
}

TEST_F(Bundled, DenseBreaksPastItsContext) {
  const auto segments = segments_of(run("dense;chunk=64", 1024, 0).series, 256);
  ASSERT_EQ(segments.size(), 3U);
  EXPECT_LT(segments[0].perplexity(), 4);
  EXPECT_GT(segments[2].perplexity(), 2 * segments[0].perplexity());
}

TEST_F(Bundled, RecallsAndAReservoirRecallsFurtherThanAWindow) {
  EXPECT_GE(share(run("dense;chunk=64", 0, 256), 1, 64), 0.8);
  const double window = share(run("window:budget=64", 0, 256), 64, 128);
  const double reservoir =
      share(run("reservoir:sinks=4,budget=64;positions=in-cache", 0, 256), 64, 128);
  EXPECT_GE(reservoir, window + 0.15);
}

TEST_F(Bundled, HasItsOwnWordsOnly) {
  EXPECT_EQ(tokenizer_->vocabulary(), 260U);
  EXPECT_EQ(model_.config.context, 256U);
  EXPECT_EQ(model_.config.note, "trained with a sink-forming term");
  EXPECT_EQ(tokenizer_->encode("anna 's hatt is red").error().message,
            "unknown word 'hatt'; did you mean 'hat'?");
}

// The same model without the sink-forming term (model/control/README.md).
class Control : public Bundled {
 protected:
  Control() : Bundled("control") {}
};

TEST_F(Control, NeedsNoSink) {
  const double window = run("window:budget=64", 1500, 0).perplexity();
  const double sink = run("streaming:sinks=1,budget=64;positions=in-cache", 1500, 0).perplexity();
  EXPECT_NEAR(window / sink, 1, 0.03) << window << " and " << sink;
  EXPECT_LT(sink, 4);
}

TEST_F(Control, DenseBreaksPastItsContextToo) {
  const auto segments = segments_of(run("dense;chunk=64", 1024, 0).series, 256);
  ASSERT_EQ(segments.size(), 3U);
  EXPECT_LT(segments[0].perplexity(), 4);
  EXPECT_GT(segments[2].perplexity(), 2 * segments[0].perplexity());
}

TEST_F(Control, RecallsAsMuchAndAReservoirRecallsFurtherThanAWindow) {
  EXPECT_GE(share(run("dense;chunk=64", 0, 256), 1, 64), 0.8);
  const double window = share(run("window:budget=64", 0, 256), 64, 128);
  const double reservoir =
      share(run("reservoir:sinks=4,budget=64;positions=in-cache", 0, 256), 64, 128);
  EXPECT_GE(reservoir, window + 0.1);
}

TEST_F(Control, DiffersFromTheModelWithTheTermInItsWeightsOnly) {
  const LanguageModel with = open_model(KVCHECK_SOURCE_DIR "/model/data").value();
  EXPECT_EQ(model_.config.note, "trained without a sink-forming term");
  EXPECT_EQ(model_.config.layers, with.config.layers);
  EXPECT_EQ(model_.config.width, with.config.width);
  EXPECT_EQ(model_.config.context, with.config.context);
  EXPECT_EQ(test::bytes_of_file(folder_ + "/tokenizer.json"),
            test::bytes_of_file(KVCHECK_SOURCE_DIR "/model/data/tokenizer.json"));
}

}  // namespace
}  // namespace kv::model
