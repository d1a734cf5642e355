// Weights, keys and values that are stored otherwise than as they came, in the commands.
#include "kvcheck/base/text/text.h"
#include "kvcheck/tests/cli/run.h"
#include "kvcheck/tests/model/small_models.h"
#include "kvcheck/tests/traces/files.h"

namespace kv {
namespace {

using test::Ran;
using test::run;
using testing::HasSubstr;

// Without the setting in the spec, which is another when --storage says the same.
std::string without_setting(std::string line) {
  const std::size_t at = line.find(";storage=");
  if (at != std::string::npos) line.erase(at, line.find(';', at + 1) - at);
  return line;
}

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
  const std::string ring = "@shift-ring:budget=16";
  EXPECT_THAT(notes(ring, "f32"),
              HasSubstr("Note: " + ring + " was published with --storage bf16"));
  EXPECT_THAT(notes(ring + ";chunk=4", "f32"), HasSubstr(";chunk=4 was published"));
  EXPECT_EQ(notes(ring, "bf16"), "");
  EXPECT_EQ(notes(ring + ";storage=bf16", "f32"), "");
  EXPECT_EQ(notes("@kivi", "f32"), "");
  EXPECT_THAT(notes("streaming:sinks=1,budget=16", "kivi2"),
              HasSubstr("keeps the newest 128 tokens exact, which of a budget of 16 may be"));
  EXPECT_THAT(notes("streaming:sinks=1,budget=16;storage=kivi2", "f32"),
              HasSubstr("storage=kivi2 keeps the newest 128 tokens exact"));
  EXPECT_EQ(notes("streaming:sinks=1,budget=16", "int4:recent=8"), "");
  EXPECT_EQ(eval({"--policy", ring, "--quiet"}).err, "");
}

// One run compares several forms, and each gives what --storage gives.
TEST_F(StoredOtherwise, ASpecSaysHowAModelStores) {
  const auto cells = [&](const std::vector<std::string>& options) {
    std::vector<std::string> arguments = options;
    arguments.insert(arguments.end(), {"--quiet", "--json", "-"});
    const Ran ran = eval(arguments);
    EXPECT_EQ(ran.status, 0) << ran.err;
    std::vector<std::string> lines;
    for (const std::string_view line : split(ran.out, '\n')) {
      if (!line.empty()) lines.push_back(without_setting(std::string(line)));
    }
    return lines;
  };
  const std::string codes = "int4:recent=4";
  const auto plain = cells({"--policy", "dense"});
  const auto open = cells({"--policy", "dense", "--storage", codes});
  ASSERT_EQ(open.size(), 1U);
  EXPECT_THAT(open[0], HasSubstr(R"("storage":"int4:recent=4")"));
  EXPECT_NE(open, plain);
  EXPECT_EQ(cells({"--policy", "dense;storage=" + codes}), open);
  EXPECT_EQ(cells({"--policy", "dense;storage=f32", "--storage", codes}), plain);
  EXPECT_EQ(cells({"--policy", "dense", "--policy", "dense;storage=" + codes}),
            (std::vector<std::string>{plain[0], open[0]}));
  const Ran looped = eval({"--policy", "dense;storage=" + codes, "--open-loop"});
  EXPECT_EQ(looped.status, 0) << looped.err;
}

TEST_F(StoredOtherwise, KeysAreNamedBesideTheStorageOfASpec) {
  const Ran ran = eval({"--policy", "dense;storage=f16", "--keys", "raw", "--csv", "-"});
  EXPECT_THAT(ran.out, HasSubstr("\"f16, keys raw\""));
}

TEST_F(StoredOtherwise, AReplayRefusesASpecWithStorage) {
  const Ran ran = run({"replay", "synthetic:zipf:tokens=64", "--policy", "@kivi"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, HasSubstr("'dense;storage=kivi2' says how a model stores keys and values, "
                                 "and a replay takes the recorded ones; leave out storage=kivi2"));
}

TEST_F(StoredOtherwise, LawsSayThatTheyDoNotLookAtIt) {
  const Ran ran = run({"check", "window:budget=8;storage=kivi2", "--filter", "size.*", "-q"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("declares  storage=kivi2, which no law looks at"));
}

}  // namespace
}  // namespace kv
