#include "kvcheck/cli/options/progress.h"

#include <sstream>

namespace kv::cli {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(ProgressLine, TellsShareElapsedAndRemaining) {
  EXPECT_EQ(progress_line(0.25, 30, "trace"), " 25%  0:30 elapsed, 1:30 left  trace");
  EXPECT_EQ(progress_line(1, 3661, "t"), "100%  1:01:01 elapsed, 0:00 left  t");
}

TEST(ProgressLine, DoesNotGuessFromTooLittle) {
  EXPECT_EQ(progress_line(0.001, 30, "t"), "  0%  0:30 elapsed  t");
  EXPECT_EQ(progress_line(0.5, 0.2, "t"), " 50%  0:00 elapsed  t");
}

TEST(ProgressLine, FitsOnOneLineOfATerminal) {
  const std::string line = progress_line(7, 1e300, std::string(200, 'x'));
  EXPECT_EQ(line.size(), 79U);
  EXPECT_THAT(line, StartsWith("100%"));
  EXPECT_THAT(progress_line(0, 0, "a\x1b[2J\nb"), EndsWith("a?[2J?b"));
}

TEST(Progress, UpdatesInPlaceAndCleansUp) {
  std::ostringstream err;
  {
    Progress progress(err, true);
    progress.update(0.5, "t");
    EXPECT_THAT(err.str(), StartsWith("\r 50%"));
    EXPECT_THAT(err.str(), Not(HasSubstr("\n")));
    const std::size_t once = err.str().size();
    progress.update(0.6, "t");
    EXPECT_EQ(err.str().size(), once) << "drawn again within a tenth of a second";
  }
  EXPECT_THAT(err.str(), EndsWith("\r\x1b[K"));
}

TEST(Progress, IsSilentUnlessShown) {
  std::ostringstream err;
  { Progress(err, false).update(0.5, "t"); }
  EXPECT_EQ(err.str(), "");
}

}  // namespace
}  // namespace kv::cli
