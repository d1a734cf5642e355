// The adapter of llama.cpp's memory functions, over what stands in for them: right and wrong.
#include <cstdlib>

#include "kvcheck/tests/cli/run.h"
#include "kvcheck/tests/paths.h"

namespace kv::properties {
namespace {

class Llama : public testing::Test {
 protected:
  // What `kvcheck check` says of the adapter with a policy of positions, over a stand-in that was
  // compiled with `flag`.
  test::Ran checked(const std::string& policy,
                    const std::string& flag,
                    const std::vector<std::string>& filter) {
    const std::string source = KVCHECK_SOURCE_DIR "/examples/llama/";
    const std::string library = folder_ / "llama.so";
    std::string command = "cc -std=c11 -Wall -Wextra -Werror -shared -fPIC " + flag + " -I'" +
                          KVCHECK_BINARY_DIR "/include' -o '" + library + "'";
    for (const std::string& name : {std::string("adapter"), policy, std::string("stand_in")}) {
      command += " '" + source + name + ".c'";
    }
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    std::vector<std::string> words = {"check", "--plugin", library, "--no-strict"};
    for (const std::string& law : filter) words.insert(words.end(), {"--filter", law});
    return test::run(words);
  }

  test::TemporaryFolder folder_;
};

TEST_F(Llama, AMemoryThatIsShiftedWhenItIsFullBreaksNoLaw) {
  const auto ran = checked("context_shift", "", {});
  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
}

TEST_F(Llama, ACellThatIsRemovedFromSequencesThatShareItIsFound) {
  EXPECT_EQ(checked("context_shift", "-DRM_FREES_SHARED", {"operation.*"}).status, 1);
}

TEST_F(Llama, ACellThatMovesForSequencesThatShareItIsFound) {
  EXPECT_EQ(checked("context_shift", "-DADD_MOVES_SHARED", {"operation.*", "position.*"}).status,
            1);
}

TEST_F(Llama, AShiftThatLeavesOutAPositionIsFound) {
  EXPECT_EQ(checked("context_shift", "-DADD_SPARES_ONE", {"visible.*", "position.*"}).status, 1);
}

TEST_F(Llama, PositionsThatAreDividedBlockByBlockBreakNoLaw) {
  const auto ran = checked("self_extend", "", {});
  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  // Positions are judged, after everything was divided and taken back too.
  EXPECT_EQ(checked("self_extend", "", {"position.after-rollback", "operation.truncate"}).status,
            0);
}

TEST_F(Llama, ADivisionThatLeavesOutAPositionOrRoundsUpIsFound) {
  for (const char* const fault : {"-DDIV_SPARES_ONE", "-DDIV_ROUNDS_UP"}) {
    EXPECT_EQ(checked("self_extend", fault, {"position.*"}).status, 1) << fault;
  }
}

TEST_F(Llama, ADivisionThatMovesACellOfOtherSequencesIsFound) {
  EXPECT_EQ(checked("self_extend", "-DDIV_MOVES_SHARED", {"operation.*"}).status, 1);
}

// One position stands for several tokens there, so taking some of them back is refused.
TEST_F(Llama, TokensTakenBackByPositionInsideADividedBlockAreFound) {
  const auto ran = checked("self_extend", "-DTAKES_BACK_DIVIDED", {"position.*", "operation.*"});
  EXPECT_EQ(ran.status, 1) << ran.out;
}

}  // namespace
}  // namespace kv::properties
