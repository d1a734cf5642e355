// What commands with a model say of their text.
#include "kvcheck/tests/cli/run.h"
#include "kvcheck/tests/model/small_models.h"
#include "kvcheck/tests/traces/files.h"

namespace kv {
namespace {

using test::Ran;
using test::run;
using testing::HasSubstr;
using testing::Not;

class TextNotes : public testing::Test {
 protected:
  std::string model_ = test::small_llama_that_reads("notes-model");
  std::string text_ =
      test::temporary_file("text.txt", "abc abcab: one<end> two three<end>four, abab.");
};

TEST_F(TextNotes, EvalSaysWhatTheTextLacks) {
  const Ran ran =
      run({"eval", "--model", model_, "--text", text_, "--tokens", "5000", "--split", "<none>"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("tokens, fewer than --tokens 5000.\n"));
  EXPECT_THAT(ran.err, HasSubstr("Note: the text has no '<none>', so --split cuts nothing.\n"));
  const Ran fine =
      run({"eval", "--model", model_, "--text", text_, "--tokens", "9", "--split", "<end>"});
  EXPECT_THAT(fine.err, Not(HasSubstr("fewer than")));
  EXPECT_THAT(fine.err, Not(HasSubstr("cuts nothing")));
}

TEST_F(TextNotes, ATextBeyondTheTrainedContextIsNoted) {
  std::string words;
  for (int i = 0; i < 40; ++i) words += "abc abcab: ";
  const std::string text = test::temporary_file("long.txt", words);
  const auto said = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"eval", "--model", model_, "--text", text};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments).err;
  };
  const std::string note = "is longer than the 64 tokens that the model was trained on";
  EXPECT_THAT(said({"--tokens", "65"}), HasSubstr("Note: a text of 65 tokens " + note));
  EXPECT_THAT(said({"--tokens", "64"}), Not(HasSubstr(note)));
  EXPECT_THAT(said({"--tokens", "65", "--policy", "window;positions=in-cache", "--budget", "9"}),
              Not(HasSubstr(note)));
  const std::string trace = test::temporary_file("long.safetensors", "");
  const Ran recorded =
      run({"record", "--model", model_, "--text", text, "--tokens", "70", "-o", trace});
  EXPECT_THAT(recorded.err, HasSubstr(note));
  const Ran generated = run({"generate", "--model", model_, "--prompt", "abc", "--tokens", "70"});
  EXPECT_THAT(generated.err, HasSubstr(note));
}

}  // namespace
}  // namespace kv
