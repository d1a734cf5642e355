#include "kvcheck/reports/explorer/explorer.h"

#include <boost/json.hpp>

#include "kvcheck/reports/explorer/base64.h"
#include "kvcheck/tests/reports/fake_replay.h"

namespace kv::reports {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

StoredRun small_run() {
  StoredRun run;
  run.summary.id = 3;
  run.summary.command = "kvcheck replay <x>";
  run.traces.push_back(testing::fake_replay(testing::small_fake()));
  return run;
}

boost::json::value data_of(const StoredRun& run, const std::vector<ExplorerText>& texts = {}) {
  return boost::json::parse(explorer_data(run, texts));
}

// The bytes of base64, the reverse of base64().
std::string bytes_of(std::string_view text) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  std::uint32_t bits = 0;
  int held = 0;
  for (const char c : text) {
    if (c == '=') break;
    bits = bits << 6U | static_cast<std::uint32_t>(digits.find(c));
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes += static_cast<char>(bits >> static_cast<unsigned>(held) & 0xFFU);
  }
  return bytes;
}

TEST(Explorer, Base64IsThatOfTheStandard) {
  // The examples of RFC 4648, section 10.
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64("\xFB\xFF"), "+/8=");
}

TEST(Explorer, TheDataHaveTheResidencyOfEveryRecordedUnit) {
  const StoredRun run = small_run();
  const boost::json::value data = data_of(run);
  const auto& trace = data.at("traces").at(0);
  ASSERT_EQ(trace.at("bytes").to_number<std::size_t>(), 2);
  std::size_t at = 0;
  for (const CellResult& cell : run.traces[0].cells) {
    if (cell.residency.empty()) continue;
    const auto& shown = trace.at("cells").at(at++);
    EXPECT_EQ(shown.at("spec").as_string(), cell.cell.spec.canonical());
    ASSERT_EQ(shown.at("units").as_array().size(), cell.residency.size());
    for (std::size_t i = 0; i < cell.residency.size(); ++i) {
      const Residency& unit = cell.residency[i];
      EXPECT_EQ(shown.at("units").at(i).at("layer").to_number<std::size_t>(), unit.layer);
      EXPECT_EQ(shown.at("units").at(i).at("head").to_number<std::size_t>(), unit.head);
      std::vector<Position> read;
      const std::string bytes =
          bytes_of(std::string_view(shown.at("units").at(i).at("evicted").as_string()));
      for (std::size_t b = 0; b + 1 < bytes.size(); b += 2) {
        read.push_back(static_cast<Position>(static_cast<unsigned char>(bytes[b]) |
                                             static_cast<unsigned char>(bytes[b + 1]) << 8));
      }
      EXPECT_EQ(read, unit.evicted_at);
    }
  }
  EXPECT_GT(at, 0U);
  EXPECT_EQ(trace.at("cells").as_array().size(), at);
}

TEST(Explorer, WordsAreThoseOfTheTraceWithTheSameChecksum) {
  const StoredRun run = small_run();
  ExplorerText text{.checksum = run.traces[0].trace.checksum, .transcript = {}};
  for (std::size_t i = 0; i < run.traces[0].trace.tokens; ++i) {
    text.transcript.text += i == 1 ? "</script>" : " a";
    text.transcript.text_ends.push_back(static_cast<std::int64_t>(text.transcript.text.size()));
  }
  const boost::json::value data = data_of(run, {text});
  const auto& words = data.at("traces").at(0).at("words").as_array();
  ASSERT_EQ(words.size(), run.traces[0].trace.tokens);
  EXPECT_EQ(words[0].as_string(), " a");
  EXPECT_EQ(words[1].as_string(), "</script>");
  EXPECT_EQ(words[2].as_string(), " a");
  // A browser would end the data at this word.
  EXPECT_THAT(explorer_data(run, std::vector{text}), Not(HasSubstr("<")));
  text.checksum += 1;
  const boost::json::value other = data_of(run, {text});
  EXPECT_TRUE(other.at("traces").at(0).at("words").as_array().empty());
}

TEST(Explorer, ThePageIsWholeAndTheSameForTheSameRun) {
  const auto page = explorer_page(small_run(), {});
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_EQ(*page, *explorer_page(small_run(), {}));
  EXPECT_THAT(*page, HasSubstr("explore: kvcheck replay &lt;x&gt;</title>"));
  EXPECT_THAT(*page, HasSubstr(explorer_data(small_run(), {})));
  EXPECT_THAT(*page, HasSubstr("<noscript><p class=\"note\">This page needs JavaScript"));
  for (const char* const foreign : {"{data}", "{script}", "src=", "href=", "https:", "@import"}) {
    EXPECT_THAT(*page, Not(HasSubstr(foreign)));
  }
}

TEST(Explorer, ARunWithoutResidencyIsRefused) {
  StoredRun run = small_run();
  for (CellResult& cell : run.traces[0].cells) cell.residency.clear();
  const auto page = explorer_page(run, {});
  ASSERT_FALSE(page);
  EXPECT_EQ(page.error().message,
            "run 3 holds no trace with recorded residency; expected a run of kvcheck replay");
}

}  // namespace
}  // namespace kv::reports
