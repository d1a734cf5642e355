// The adapter of llama.cpp's memory functions, over what stands in for them: right and wrong.
#include <cstdlib>

#include "kvcheck/tests/cli/run.h"
#include "kvcheck/tests/paths.h"

namespace kv::properties {
namespace {

class Llama : public testing::Test {
 protected:
  // What `kvcheck check` says of the adapter over a stand-in that was compiled with `flag`.
  test::Ran checked(const std::string& flag, const std::vector<std::string>& filter) {
    const std::string source = KVCHECK_SOURCE_DIR "/examples/llama/";
    const std::string library = folder_ / "llama.so";
    const std::string command = "cc -std=c11 -Wall -Wextra -Werror -shared -fPIC " + flag + " -I'" +
                                KVCHECK_BINARY_DIR "/include' '" + source + "adapter.c' '" +
                                source + "stand_in.c' -o '" + library + "'";
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    std::vector<std::string> words = {"check", "--plugin", library, "--no-strict"};
    for (const std::string& law : filter) words.insert(words.end(), {"--filter", law});
    return test::run(words);
  }

  test::TemporaryFolder folder_;
};

TEST_F(Llama, AMemoryThatIsShiftedWhenItIsFullBreaksNoLaw) {
  const auto ran = checked("", {});
  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
}

TEST_F(Llama, ACellThatIsRemovedFromSequencesThatShareItIsFound) {
  EXPECT_EQ(checked("-DRM_FREES_SHARED", {"operation.*", "rows.*"}).status, 1);
}

TEST_F(Llama, ACellThatMovesForSequencesThatShareItIsFound) {
  EXPECT_EQ(checked("-DADD_MOVES_SHARED", {"operation.*", "position.*"}).status, 1);
}

TEST_F(Llama, AShiftThatLeavesOutAPositionIsFound) {
  EXPECT_EQ(checked("-DADD_SPARES_ONE", {"visible.*", "position.*"}).status, 1);
}

}  // namespace
}  // namespace kv::properties
