#include "kvcheck/reports/explorer/explorer.h"

#include <zlib.h>

#include <boost/json.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "kvcheck/reports/explorer/base64.h"
#include "kvcheck/reports/explorer/deflate.h"
#include "kvcheck/tests/reports/fake_replay.h"

namespace kv::reports {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

StoredRun small_run() {
  StoredRun run;
  run.summary.id = 3;
  run.summary.command = "kvcheck replay <x>";
  run.traces.push_back(testing::fake_replay(testing::small_fake()));
  return run;
}

// What explorer_data() packs.
struct Data {
  boost::json::value json;
  std::vector<ExplorerPart> parts;

  [[nodiscard]] const std::string& part(const boost::json::value& number) const {
    return parts.at(number.to_number<std::size_t>()).bytes;
  }

  // `count` numbers of `bytes` bytes of a part, from an offset on.
  [[nodiscard]] std::vector<std::uint64_t> numbers(const boost::json::value& number,
                                                   const boost::json::value& offset,
                                                   std::size_t count,
                                                   std::size_t bytes) const {
    const std::string& arrays = part(number);
    std::vector<std::uint64_t> read(count);
    const auto from = offset.to_number<std::size_t>();
    EXPECT_LE(from + count * bytes, arrays.size());
    EXPECT_EQ(from % 4, 0U);
    for (std::size_t i = 0; i < count * bytes; ++i) {
      const auto byte = static_cast<unsigned char>(arrays.at(from + i));
      read[i / bytes] |= std::uint64_t{byte} << (8 * (i % bytes));
    }
    return read;
  }
};

Data data_of(const StoredRun& run, const std::vector<ExplorerTrace>& texts = {}) {
  ExplorerData data = explorer_data(run, texts);
  return {boost::json::parse(data.index), std::move(data.parts)};
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

// The reverse of deflated().
std::string inflated(const std::string& stream, std::size_t size) {
  std::string bytes(size + 1, '\0');
  uLongf length = bytes.size();
  EXPECT_EQ(uncompress(reinterpret_cast<Bytef*>(bytes.data()), &length,
                       reinterpret_cast<const Bytef*>(stream.data()), stream.size()),
            Z_OK);
  bytes.resize(length);
  return bytes;
}

void expect_residency(const StoredRun& run, std::size_t width) {
  const Data data = data_of(run);
  const auto& trace = data.json.at("traces").at(0);
  ASSERT_EQ(trace.at("bytes").to_number<std::size_t>(), width);
  const std::size_t tokens = run.traces[0].trace.tokens;
  std::size_t at = 0;
  for (const CellResult& cell : run.traces[0].cells) {
    if (cell.residency.empty()) continue;
    const auto& shown = trace.at("cells").at(at++);
    EXPECT_EQ(shown.at("spec").as_string(), cell.cell.spec.canonical());
    EXPECT_EQ(shown.at("seed").as_string(), std::to_string(cell.cell.seed));
    ASSERT_EQ(shown.at("units").as_array().size(), cell.residency.size());
    for (std::size_t i = 0; i < cell.residency.size(); ++i) {
      const Residency& unit = cell.residency[i];
      const auto& written = shown.at("units").at(i);
      EXPECT_EQ(written.at("layer").to_number<std::size_t>(), unit.layer);
      EXPECT_EQ(written.at("head").to_number<std::size_t>(), unit.head);
      const auto lifetimes = data.numbers(shown.at("part"), written.at("lifetimes"), tokens, width);
      std::vector<Position> read;
      for (std::size_t p = 0; p < tokens; ++p) {
        read.push_back(static_cast<Position>(lifetimes[p] == 0 ? tokens + 1 : p + lifetimes[p]));
      }
      EXPECT_EQ(read, unit.evicted_at);
    }
  }
  EXPECT_GT(at, 0U);
  EXPECT_EQ(trace.at("cells").as_array().size(), at);
}

TEST(Explorer, TheDataHaveTheResidencyOfEveryRecordedUnit) {
  expect_residency(small_run(), 2);
}

TEST(Explorer, LongStreamsHaveWiderNumbers) {
  StoredRun run = small_run();
  ReplayResult& trace = run.traces[0];
  trace.trace.tokens = 65536;
  trace.cells.resize(1);
  for (Residency& unit : trace.cells[0].residency) {
    unit.evicted_at.assign(65536, 65537);
    unit.evicted_at[0] = 65536;
    unit.evicted_at[65535] = 65536;
  }
  expect_residency(run, 4);
}

TEST(Explorer, DeflatedBytesAreSmallerAndInflateToThemselves) {
  const std::string index = explorer_data(small_run(), {}).index;
  const std::string stream = testing::taken(deflated(index));
  EXPECT_LT(stream.size(), index.size() / 2);
  EXPECT_EQ(inflated(stream, index.size()), index);
  EXPECT_EQ(inflated(testing::taken(deflated("")), 0), "");
}

// The page offers the seeds of a policy and budget, so these have one label.
TEST(Explorer, SeedsOfASpecHaveTheSameLabel) {
  const Data data = data_of(small_run());
  std::map<std::string, std::set<std::string>> seeds;
  for (const auto& cell : data.json.at("traces").at(0).at("cells").as_array()) {
    const auto text = [&](const char* name) { return std::string(cell.at(name).as_string()); };
    seeds[text("label") + " " + text("budget")].insert(text("seed"));
  }
  EXPECT_THAT(seeds["reservoir 12"], ElementsAre("1", "18446744073709551615"));
  EXPECT_THAT(seeds["window 20"], ElementsAre("1"));
}

TEST(Explorer, WordsAreThoseOfTheTraceWithTheSameChecksum) {
  const StoredRun run = small_run();
  ExplorerTrace text{.checksum = run.traces[0].trace.checksum, .transcript = {}, .steps = {}};
  for (std::size_t i = 0; i < run.traces[0].trace.tokens; ++i) {
    text.transcript.text += i == 1 ? "</script>" : " a";
    text.transcript.text_ends.push_back(static_cast<std::int64_t>(text.transcript.text.size()));
  }
  const Data data = data_of(run, {text});
  const auto words_of = [](const Data& from) {
    return boost::json::parse(from.part(from.json.at("traces").at(0).at("text"))).as_array();
  };
  const auto words = words_of(data);
  ASSERT_EQ(words.size(), run.traces[0].trace.tokens);
  EXPECT_EQ(words[0].as_string(), " a");
  EXPECT_EQ(words[1].as_string(), "</script>");
  EXPECT_EQ(words[2].as_string(), " a");
  text.checksum += 1;
  const Data other = data_of(run, {text});
  EXPECT_EQ(other.json.at("traces").at(0).at("text").as_int64(), -1);
}

TEST(Explorer, StepsAreInTheDataOfTheirUnit) {
  const StoredRun run = small_run();
  const auto& cells = run.traces[0].cells;
  const auto of =
      std::ranges::find_if(cells, [](const CellResult& c) { return !c.residency.empty(); });
  const std::size_t tokens = run.traces[0].trace.tokens;
  UnitSteps steps;
  steps.residency = of->residency.back();
  for (std::size_t i = 0; i < tokens; ++i) {
    steps.slots.push_back(static_cast<Slot>(70000 + i));
    steps.retained.push_back(static_cast<float>(i) / 8);
  }
  steps.mass = {1, 0.5F, 0.3F, 1e-4F, 1e-6F, 0};
  steps.decisions = {{.seen = 9,
                      .candidates = 4,
                      .victims = {{3, 0.25}, {5, std::nan("")}},
                      .next = {{7, -std::numeric_limits<double>::infinity()}}}};
  const ExplorerTrace trace = {
      .checksum = run.traces[0].trace.checksum,
      .transcript = {},
      .steps = {explorer_steps(static_cast<std::size_t>(of - cells.begin()), steps, 16)}};
  const Data data = data_of(run, {trace});
  const auto& units = data.json.at("traces").at(0).at("cells").at(0).at("units").as_array();
  for (std::size_t i = 0; i + 1 < units.size(); ++i) {
    EXPECT_FALSE(units[i].as_object().contains("steps"));
  }
  for (const auto& unit : data.json.at("traces").at(0).at("cells").at(1).at("units").as_array()) {
    EXPECT_FALSE(unit.as_object().contains("steps"));
  }
  const auto& written = units.back().at("steps");
  EXPECT_EQ(written.at("window").as_int64(), 16);
  const auto slots = data.numbers(written.at("part"), written.at("slots"), tokens, 4);
  EXPECT_TRUE(std::ranges::equal(slots, steps.slots));
  // 1.5 as IEEE binary32.
  EXPECT_EQ(data.numbers(written.at("part"), written.at("retained"), tokens, 4)[12], 0x3FC00000U);
  const auto codes = data.numbers(written.at("part"), written.at("mass"), steps.mass.size(), 1);
  EXPECT_EQ(codes[0], 0U);
  EXPECT_EQ(codes[5], 255U);
  for (std::size_t i = 0; i + 2 < codes.size(); ++i) {
    EXPECT_NEAR(std::exp2(-static_cast<double>(codes[i]) / 16) / steps.mass[i], 1, 0.0222);
  }
  EXPECT_EQ(data.part(written.at("decisions")),
            R"([{"seen":9,"candidates":4,"victims":[[3,0.25],[5,null]],"next":[[7,null]]}])");
}

// The bytes that an element of the page holds.
std::string held_by(const std::string& page, const std::string& id, std::size_t size) {
  const std::string begin = "<script type=\"application/octet-stream\" id=\"" + id + "\">";
  const std::size_t at = page.find(begin);
  EXPECT_NE(at, std::string::npos) << id;
  if (at == std::string::npos) return {};
  const std::size_t from = at + begin.size();
  return inflated(bytes_of(page.substr(from, page.find('<', from) - from)), size);
}

TEST(Explorer, ThePageIsWholeAndTheSameForTheSameRun) {
  const auto page = explorer_page(small_run(), {});
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_EQ(*page, *explorer_page(small_run(), {}));
  EXPECT_THAT(*page, HasSubstr("explore: kvcheck replay &lt;x&gt;</title>"));
  const ExplorerData data = explorer_data(small_run(), {});
  EXPECT_EQ(held_by(*page, "index", data.index.size()), data.index);
  ASSERT_GT(data.parts.size(), 2U);
  const std::size_t script = page->find("<script>");
  for (std::size_t i = 0; i < data.parts.size(); ++i) {
    const std::string id = "part-" + std::to_string(i);
    EXPECT_EQ(held_by(*page, id, data.parts[i].bytes.size()), data.parts[i].bytes);
    // The script draws its first view while the browser reads what follows it.
    EXPECT_EQ(page->find("\"" + id + "\"") < script, data.parts[i].opened) << id;
  }
  EXPECT_THAT(*page, HasSubstr("<noscript><p class=\"note\">This page needs JavaScript"));
  for (const char* const foreign :
       {"{first}", "{rest}", "{script}", "src=", "href=", "https:", "@import"}) {
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
