// bench/peers.py with stand-ins for kvcheck and for the programs beside it: its table, and what it
// says of programs that cannot be run or print something else.
#include <fstream>

#include "kvcheck/tests/cli/run.h"
#include "kvcheck/tests/paths.h"

namespace kv {
namespace {

using test::Ran;
using testing::HasSubstr;

class Peers : public testing::Test {
 protected:
  // 64 tokens of a prompt in half a second, and 100 tokens/s after it; half of them take less time.
  void SetUp() override {
    program("kvcheck", R"(echo '{"first_token_s":0.5,"token_s":0.008,"mean_token_s":0.01}')");
    std::ofstream(folder_ / "model").flush();
  }

  void program(const std::string& name, const std::string& script) const {
    const Ran made = test::run_shell("cd '" + (folder_ / "") + "' && cat > " + name +
                                     " <<'EOF'\n#!/bin/sh\n" + script + "\nEOF\nchmod +x " + name);
    ASSERT_EQ(made.status, 0) << made.err;
  }

  [[nodiscard]] Ran peers(const std::string& arguments) const {
    return test::run_shell("cd '" + (folder_ / "") +
                           "' && python3 '" KVCHECK_SOURCE_DIR "/bench/peers.py' ./kvcheck model " +
                           arguments + " --prompt 64 --tokens 8 --rounds 3 --threads 2");
  }

  const test::TemporaryFolder folder_;
};

TEST_F(Peers, PrintsRatiosOfPromptsAndOfDecoding) {
  program("bench", R"(echo '[{"n_gen":0,"avg_ts":64.0},{"n_gen":8,"avg_ts":400.0}]')");
  program("run", R"(echo 'achieved tok/s: 50.0' >&2)");
  const Ran ran = peers("--llama-bench ./bench --llama2 ./run");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("| 2 | kvcheck | 128.0 |  | 100.0 |  |"));
  EXPECT_THAT(ran.out, HasSubstr("| 2 | bench | 64.0 | 2.00 | 400.0 | 0.25 |"));
  EXPECT_THAT(ran.out, HasSubstr("| 2 | run |  |  | 50.0 | 2.00 |"));
}

TEST_F(Peers, AreNamedByTheShortestEndsOfTheirPathsThatTellThemApart) {
  const std::string bench = R"(echo '[{"n_gen":0,"avg_ts":64.0},{"n_gen":8,"avg_ts":400.0}]')";
  ASSERT_EQ(test::run_shell("cd '" + (folder_ / "") + "' && mkdir -p one/bin two/bin").status, 0);
  program("one/bin/bench", bench);
  program("two/bin/bench", bench);
  program("run", R"(echo 'achieved tok/s: 50.0' >&2)");
  const Ran ran = peers("--llama-bench one/bin/bench --llama-bench two/bin/bench --llama2 ./run");
  EXPECT_EQ(ran.status, 0) << ran.err;
  for (const char* const name : {"one/bin/bench", "two/bin/bench", "run"}) {
    EXPECT_THAT(ran.out, HasSubstr("| 2 | " + std::string(name) + " |"));
  }
}

TEST_F(Peers, SayWhatCannotBeRunOrRead) {
  program("silent", "true");
  program("broken", "echo it broke >&2; exit 5");
  for (const auto& [arguments, words] :
       {std::pair{"--llama2 ./absent", "there is no file './absent'"},
        std::pair{"--llama2 ./silent", "'./silent' printed no 'achieved tok/s'"},
        std::pair{"--llama-bench ./silent", "'./silent' printed no JSON"},
        std::pair{"--llama-bench ./broken", "'./broken' ended with status 5: it broke"},
        std::pair{"", "name a peer by --llama-bench or --llama2"}}) {
    const Ran ran = peers(arguments);
    EXPECT_EQ(ran.status, 2) << arguments;
    EXPECT_THAT(ran.err, HasSubstr(words));
  }
}

}  // namespace
}  // namespace kv
