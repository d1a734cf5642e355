// What README.md shows is what the program prints.
#include <sstream>

#include "kvcheck/base/text/text.h"
#include "kvcheck/tests/cli/run.h"
#include "kvcheck/tests/paths.h"

namespace kv::cli {
namespace {

const std::string root = KVCHECK_SOURCE_DIR;

// The lines of the first block of code after the sentence.
std::vector<std::string> block_after(const std::string& page, const std::string& sentence) {
  const std::size_t from = page.find(sentence);
  EXPECT_NE(from, std::string::npos) << sentence;
  const std::size_t begin = page.find("```\n", from) + 4;
  std::istringstream block(page.substr(begin, page.find("```", begin) - begin));
  std::vector<std::string> lines;
  for (std::string line; std::getline(block, line);) lines.push_back(line);
  return lines;
}

TEST(Readme, ShowsTheTableThatItsTourPrints) {
  const std::string page = test::read_text(root + "/README.md");
  std::vector<std::string> arguments = {"replay",
                                        root + "/traces/data/tinystories-2m.qkv.safetensors"};
  for (const std::string& line : block_after(page, "## A tour")) {
    const std::vector<std::string_view> parts = split(line, ' ');
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
      if (parts[i] != "--policy") continue;
      arguments.insert(arguments.end(), {"--policy", std::string(parts[i + 1])});
    }
  }
  EXPECT_EQ(arguments.size(), 2U + 2 * 4U);
  const test::Ran ran = test::run(arguments);
  ASSERT_EQ(ran.status, 0) << ran.err;
  const std::vector<std::string> table = block_after(page, "The replay ends with this table");
  EXPECT_EQ(table.size(), 1U + 4U);
  EXPECT_THAT(ran.out, testing::HasSubstr("\n" + join(table, "\n") + "\n"));
}

}  // namespace
}  // namespace kv::cli
