// The pages on the ways in show what the examples are: the same text, and JSON that holds.
#include <boost/json.hpp>
#include <fstream>
#include <sstream>

#include "kvcheck/properties/remote/contract_json.h"
#include "kvcheck/properties/remote/process_family.h"
#include "kvcheck/tests/paths.h"

namespace kv::properties {
namespace {

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(KVCHECK_SOURCE_DIR "/" + path).rdbuf();
  return text.str();
}

struct Block {
  std::string fence;  // what stands behind the three marks
  std::string text;
};

std::vector<Block> blocks_of(const std::string& page) {
  std::vector<Block> blocks;
  std::istringstream lines(text_of(page));
  bool open = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) {
      open = !open;
      if (open) blocks.push_back({line.substr(3), ""});
    } else if (open) {
      blocks.back().text += line + "\n";
    }
  }
  return blocks;
}

TEST(WaysDoc, EveryBlockOfTheTenMinutesIsAnExample) {
  std::size_t compared = 0;
  for (const Block& block : blocks_of("docs/test-your-cache.md")) {
    const std::size_t blank = block.fence.find(' ');
    if (blank == std::string::npos) {
      EXPECT_EQ(block.fence, "sh") << "a block of code names its file";
      continue;
    }
    const std::string path = block.fence.substr(blank + 1);
    EXPECT_NE(text_of(path).find(block.text), std::string::npos)
        << path << " does not hold this text:\n"
        << block.text;
    ++compared;
  }
  EXPECT_GE(compared, 7U);
}

TEST(WaysDoc, TheProtocolsExamplesHold) {
  std::vector<std::string> lines;
  for (const Block& block : blocks_of("properties/PROTOCOL.md")) {
    if (block.fence != "json") continue;
    std::istringstream text(block.text);
    for (std::string line; std::getline(text, line);) {
      boost::system::error_code failed;
      boost::json::parse(line, failed);
      EXPECT_FALSE(failed) << line;
      lines.push_back(line);
    }
  }
  ASSERT_GE(lines.size(), 6U);
  // The answers of the page, given by a program that answers nothing else.
  const std::string program = "while read -r line; do case \"$line\" in *hello*) echo '" +
                              lines[1] + "';; *'\"ask\":\"contract\"'*) echo '" + lines[3] +
                              "';; *) echo '" + lines[5] + "';; esac; done";
  const auto family = make_process_family(program, {.strict = true});
  ASSERT_TRUE(family) << family.error().message;
  const auto history =
      run_case(**family, *parse_case("sinks=1,recent=2,budget=3;stream=random;calls=f3,f2,k"));
  ASSERT_TRUE(history);
  EXPECT_EQ(history->failure, "");
  EXPECT_EQ(history->events.size(), 3U);
}

TEST(WaysDoc, TheProtocolNamesEveryFieldOfAContract) {
  const std::string page = text_of("properties/PROTOCOL.md");
  const auto contract = boost::json::parse(contract_json({})).as_object();
  for (const auto& field : contract) {
    EXPECT_NE(page.find("`" + std::string(field.key()) + "`"), std::string::npos) << field.key();
  }
}

}  // namespace
}  // namespace kv::properties
