// The words of a trace in a report.
#include "kvcheck/reports/explorer/explorer.h"
#include "kvcheck/reports/page/report_page.h"
#include "kvcheck/tests/reports/fake_replay.h"

namespace kv::reports {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A replay of one spec whose units hold positions 0 (all of them), 1 (one of them) and no other.
ReplayResult replay_of_words() {
  ReplayResult replay = testing::fake_replay(testing::small_fake());
  for (CellResult& cell : replay.cells) {
    cell.kept.assign(replay.trace.tokens, 0);
    cell.kept[0] = static_cast<std::uint32_t>(cell.units.size());
    cell.kept[1] = 1;
  }
  return replay;
}

ExplorerTrace words_of(const ReplayResult& replay, const std::vector<std::string>& words) {
  ExplorerTrace trace{.checksum = replay.trace.checksum, .transcript = {}, .steps = {}};
  for (std::size_t i = 0; i < replay.trace.tokens; ++i) {
    trace.transcript.text += i < words.size() ? words[i] : ".";
    trace.transcript.text_ends.push_back(static_cast<std::int64_t>(trace.transcript.text.size()));
  }
  return trace;
}

TEST(ReportWords, AreShadedByTheUnitsThatHoldThem) {
  const ReplayResult replay = replay_of_words();
  ASSERT_GT(replay.cells.back().units.size(), 1U);
  const std::string html = words_block(replay, {words_of(replay, {"<s>", " a", " b"})});
  EXPECT_THAT(html, HasSubstr("<span class=\"held-4\">&lt;s&gt;</span><span class=\"held-1\"> a"
                              "</span><span class=\"held-0\"> b</span>"));
}

TEST(ReportWords, KeepTheLineEndsOfTheText) {
  const ReplayResult replay = replay_of_words();
  const std::string html = words_block(replay, {words_of(replay, {"<s>\n", "\tb\r\n", "c"})});
  EXPECT_THAT(html, HasSubstr("&lt;s&gt;\n</span>"));
  EXPECT_THAT(html, HasSubstr("\tb\n</span>"));
  EXPECT_THAT(html, Not(HasSubstr("\xEF\xBF\xBD")));
}

TEST(ReportWords, KeepACharacterOfSeveralTokensWhole) {
  const ReplayResult replay = replay_of_words();
  const std::string html = words_block(replay, {words_of(replay, {"a\xe2", "\x82", "\xac", "b"})});
  EXPECT_THAT(html, HasSubstr("<span class=\"held-4\">a\xe2\x82\xac</span><span class=\"held-1\">"
                              "</span><span class=\"held-0\"></span><span class=\"held-0\">b<"));
}

TEST(ReportWords, AreThoseOfTheTraceOnly) {
  const ReplayResult replay = replay_of_words();
  ExplorerTrace other = words_of(replay, {"a"});
  ++other.checksum;
  EXPECT_EQ(words_block(replay, {other}), "");
  EXPECT_EQ(
      words_block(replay, {{.checksum = replay.trace.checksum, .transcript = {}, .steps = {}}}),
      "");
}

}  // namespace
}  // namespace kv::reports
