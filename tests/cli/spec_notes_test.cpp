#include "kvcheck/cli/replay/spec_notes.h"

namespace kv::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> notes(const std::vector<std::string>& specs, std::size_t longest) {
  std::vector<Cell> cells;
  for (const std::string& spec : specs) {
    for (const std::uint64_t seed : {1U, 2U}) cells.push_back({parse_spec(spec).value(), seed});
  }
  return notes_on(cells, longest);
}

TEST(SpecNotes, TellWhereNothingIsLeftOut) {
  EXPECT_THAT(
      notes({"dense", "h2o:budget=64", "@quest", "streaming:sinks=4,recent=296"}, 300),
      ElementsAre(HasSubstr("dense;visibility=top-pages:1024, streaming: no token is left")));
  EXPECT_THAT(notes({"h2o:budget=300", "tova:budget=290;timing=lazy:10"}, 300),
              ElementsAre(HasSubstr("no token is left")));
}

TEST(SpecNotes, TellWhereNoRecentTokenIsKept) {
  EXPECT_THAT(notes({"@duo:budget=64"}, 300), ElementsAre(HasSubstr("no recent token is kept")));
  EXPECT_THAT(notes({"@duo"}, 4000), IsEmpty());
  EXPECT_THAT(notes({"tova:budget=64"}, 300), IsEmpty());
}

TEST(SpecNotes, TellWhereMoreWaitsThanTheBudget) {
  EXPECT_THAT(notes({"@discard-half:budget=64"}, 4000),
              ElementsAre(HasSubstr("more tokens may wait")));
  EXPECT_THAT(notes({"@discard-half"}, 4000), IsEmpty());
}

}  // namespace
}  // namespace kv::cli
