// Weights, keys and values that are stored otherwise than as they came, in the commands.
#include "kvcheck/tests/cli/run.h"
#include "kvcheck/tests/model/small_models.h"
#include "kvcheck/tests/traces/files.h"

namespace kv {
namespace {

using test::Ran;
using test::run;
using testing::HasSubstr;

class StoredOtherwise : public testing::Test {
 protected:
  StoredOtherwise()
      : model_(test::small_llama_that_reads("storage-model")),
        text_(
            test::temporary_file("storage.txt", "abc abcab: one<end> two three<end>four, abab.")) {}

  [[nodiscard]] Ran eval(const std::vector<std::string>& more) const {
    std::vector<std::string> arguments = {"eval", "--model", model_, "--text", text_};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  }

  std::string model_;
  std::string text_;
};

TEST_F(StoredOtherwise, WeightsMayBeQuantised) {
  const auto json = [&](const std::string& weights) {
    std::string line = eval({"--policy", "dense", "--weights", weights, "--json", "-"}).out;
    const std::string reported = "; layers' weights as " + weights;
    const std::size_t at = line.find(reported);
    EXPECT_EQ(at == std::string::npos, weights == "as-is");
    if (at != std::string::npos) line.erase(at, reported.size());
    return line;
  };
  EXPECT_EQ(json("f32"), json("as-is"));
  EXPECT_NE(json("int8"), json("as-is"));
  EXPECT_NE(json("nf4"), json("int8"));
  const test::TemporaryFolder folder;
  EXPECT_EQ(eval({"--weights", "nf4", "-o", folder / "run.db"}).status, 0);
  EXPECT_THAT(run({"report", folder / "run.db", "--list"}).out, HasSubstr("--weights nf4"));
  EXPECT_EQ(run({"report", folder / "run.db", "-o", folder / "report"}).status, 0);
  EXPECT_THAT(test::read_text(folder / "report/index.html"), HasSubstr("weights as nf4"));
  const auto written = [&](const std::string& weights) {
    return run({"generate", "--model", model_, "--tokens", "30", "--weights", weights}).out;
  };
  EXPECT_NE(written("nf4"), written("as-is"));
}

TEST_F(StoredOtherwise, EvalNotesAStorageThatIsNotMeant) {
  const auto notes = [&](const std::string& policy, const std::string& storage) {
    return eval({"--policy", policy, "--storage", storage}).err;
  };
  EXPECT_THAT(notes("@kivi", "f32"), HasSubstr("Note: @kivi was published with --storage kivi2"));
  EXPECT_THAT(notes("@kivi;chunk=4", "f32"), HasSubstr("Note: @kivi;chunk=4 was published"));
  EXPECT_EQ(notes("@kivi", "kivi2"), "");
  EXPECT_THAT(notes("streaming:sinks=1,budget=16", "kivi2"),
              HasSubstr("keeps the newest 128 tokens exact, which of a budget of 16 may be"));
  EXPECT_EQ(notes("streaming:sinks=1,budget=16", "int4:recent=8"), "");
  EXPECT_EQ(eval({"--policy", "@kivi", "--quiet"}).err, "");
}

}  // namespace
}  // namespace kv
