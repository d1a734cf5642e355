// --kv-heads of a replay.
#include <boost/json.hpp>

#include "kvcheck/tests/cli/run.h"

namespace kv {
namespace {

using test::Ran;
using testing::HasSubstr;

// The number of caches of the first cell.
std::int64_t units_of(const std::string& json_lines) {
  return boost::json::parse(json_lines.substr(0, json_lines.find('\n')))
      .at("units")
      .to_number<std::int64_t>();
}

TEST(GroupedDump, SharesTheCachesOfGroupedHeadsOfADump) {
  const test::TemporaryFolder folder;
  const std::string dump = folder / "grouped.npy";
  test::write_even_attention(dump, 8, 16);
  const std::vector<std::string> replay = {"replay",   dump, "--policy", "tova",
                                           "--budget", "8",  "--json",   "-"};
  const Ran alone = test::run(replay);
  ASSERT_EQ(alone.status, 0) << alone.err;
  EXPECT_EQ(units_of(alone.out), 8);
  EXPECT_THAT(alone.err, HasSubstr("does not say which of its 8 heads share keys"));
  std::vector<std::string> grouped = replay;
  grouped.insert(grouped.end(), {"--kv-heads", "2"});
  const Ran shared = test::run(grouped);
  ASSERT_EQ(shared.status, 0) << shared.err;
  EXPECT_EQ(units_of(shared.out), 2);
  EXPECT_EQ(shared.err, "");
  const Ran made = test::run({"replay", "synthetic:zipf:tokens=16", "--policy", "tova", "--budget",
                              "8", "--kv-heads", "2"});
  EXPECT_EQ(made.status, 2);
  EXPECT_THAT(made.err, HasSubstr("is a generated stream; expected kv_heads=2 among its fields"));
}

}  // namespace
}  // namespace kv
