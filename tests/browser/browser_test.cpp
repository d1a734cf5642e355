// Pages in headless Chromium. `./dev browser` installs what these tests need.
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>

#include "kvcheck/reports/explorer/explorer.h"
#include "kvcheck/tests/cli/run.h"
#include "kvcheck/tests/paths.h"
#include "kvcheck/tests/reports/large_run.h"

namespace kv {
namespace {

using namespace ::testing;
using test::run_shell;

constexpr const char* packages = KVCHECK_SOURCE_DIR "/build/browser";

// The sentence that says what is missing; empty if nothing is.
std::string missing() {
  const auto there = [](const std::string& path) { return std::filesystem::exists(path); };
  const char* const named = std::getenv("KVCHECK_CHROMIUM");
  if (!there(named != nullptr ? named : "/usr/bin/chromium")) {
    return "there is no Chromium (Debian: chromium); ./dev browser installs it";
  }
  const std::filesystem::path modules = std::filesystem::path(packages) / "node_modules";
  for (const char* const package : {"puppeteer-core", "axe-core"}) {
    if (there(modules / package)) continue;
    return std::string("build/browser lacks ") + package + " of npm; ./dev browser installs it";
  }
  if (run_shell("command -v node").status != 0) return "there is no Node.js (Debian: nodejs)";
  return {};
}

// One check of a script.
struct Check {
  const char* script;
  const char* name;
};

// The name alone in the list of tests.
std::ostream& operator<<(std::ostream& out, const Check& check) {
  return out << check.name;
}

// Pages that a suite writes into a folder of its own, for checks in a browser.
template <typename Parameter>
class Pages : public TestWithParam<Parameter> {
 protected:
  static void TearDownTestSuite() { folder_.reset(); }

  void SetUp() override {
    if (const std::string what = missing(); !what.empty()) GTEST_SKIP() << what;
  }

  static inline std::unique_ptr<test::TemporaryFolder> folder_;
};

class ExplorerPage : public Pages<Check> {
 protected:
  static void SetUpTestSuite() {
    if (!missing().empty()) return;
    folder_ = std::make_unique<test::TemporaryFolder>();
    const std::string trace = "'" KVCHECK_SOURCE_DIR "/traces/data/tinystories-2m.qkv.safetensors'";
    const auto written =
        run_shell("cd '" + (*folder_ / "") + "' && $K replay " + trace +
                  " --policy dense --policy window --policy h2o --policy 'streaming;timing=lazy:32'"
                  " --policy 'tova;positions=in-cache' --budget 64 --quiet -o run.db >replay.txt &&"
                  " $K explore run.db --trace " +
                  trace +
                  " -o steps.html &&"
                  " $K explore run.db -o bare.html");
    ASSERT_EQ(written.status, 0) << written.err;
  }
};

TEST_P(ExplorerPage, Passes) {
  const auto [script, name] = GetParam();
  const auto ran =
      run_shell("timeout 120 node '" KVCHECK_SOURCE_DIR "/tests/browser/" + std::string(script) +
                "' " + name + " '" + packages + "' '" + (*folder_ / "steps.html") + "' '" +
                (*folder_ / "bare.html") + "' 2>&1");
  EXPECT_EQ(ran.status, 0) << ran.out;
  EXPECT_THAT(ran.out, HasSubstr("passed: " + std::string(name)));
}

constexpr const char* explorer = "explorer.mjs";
constexpr const char* addresses = "explorer_links.mjs";

INSTANTIATE_TEST_SUITE_P(Browser,
                         ExplorerPage,
                         Values(Check{explorer, "opening"},
                                Check{explorer, "steps"},
                                Check{explorer, "comparison"},
                                Check{explorer, "walk"},
                                Check{explorer, "tables"},
                                Check{explorer, "words"},
                                Check{explorer, "curve"},
                                Check{explorer, "looks"},
                                Check{addresses, "links"},
                                Check{addresses, "lacking"},
                                Check{addresses, "printed"},
                                Check{addresses, "alone"}),
                         [](const auto& check) { return std::string(check.param.name); });

// How the page reads its data: one of the size that docs/explorer.md promises, and one with seeds.
class ExplorerPageData : public Pages<const char*> {
 protected:
  static void SetUpTestSuite() {
    if (!missing().empty()) return;
    folder_ = std::make_unique<test::TemporaryFolder>();
    testing::LargeRun large = testing::large_run();
    write("large.html", large);
    // Words that look the same as they are, in a layer with a window of its own.
    for (std::size_t i = 0; i < large.run.traces[0].trace.tokens; ++i) {
      const std::array<std::string, 6> words = {" ",
                                                "\n",
                                                "",
                                                "\xE2\x80\xAE"
                                                "abc",
                                                " word",
                                                std::string(200, 'x')};
      large.trace.transcript.text += words.at(i % words.size());
      large.trace.transcript.text_ends.push_back(
          static_cast<std::int64_t>(large.trace.transcript.text.size()));
    }
    for (reports::ExplorerSteps& steps : large.trace.steps) steps.window = 100;
    write("odd.html", large);
    const auto written = run_shell(
        "cd '" + (*folder_ / "") +
        "' && S=synthetic:zipf:tokens=300,heads=2 && $K replay $S --policy h2o --policy random"
        " --budget 32 --seeds 3 --quiet -o run.db >replay.txt &&"
        " $K explore run.db --trace $S -o seeds.html");
    ASSERT_EQ(written.status, 0) << written.err;
  }

  static void write(const std::string& name, const testing::LargeRun& large) {
    const auto page = reports::explorer_page(large.run, std::span(&large.trace, 1));
    ASSERT_TRUE(page);
    std::ofstream(*folder_ / name, std::ios::binary) << *page;
  }
};

TEST_P(ExplorerPageData, Passes) {
  const auto ran =
      run_shell("timeout 120 node '" KVCHECK_SOURCE_DIR "/tests/browser/explorer_data.mjs' " +
                std::string(GetParam()) + " '" + packages + "' '" + (*folder_ / "large.html") +
                "' '" + (*folder_ / "seeds.html") + "' '" + (*folder_ / "odd.html") + "' 2>&1");
  EXPECT_EQ(ran.status, 0) << ran.out;
  EXPECT_THAT(ran.out, HasSubstr("passed: " + std::string(GetParam())));
}

INSTANTIATE_TEST_SUITE_P(Browser,
                         ExplorerPageData,
                         Values("lazy", "seeds", "odd"),
                         [](const auto& check) { return std::string(check.param); });

class ReportInBrowser : public Pages<const char*> {
 protected:
  // Nine policies, so that not every curve has a colour, and all sections of one model.
  static void SetUpTestSuite() {
    if (!missing().empty()) return;
    folder_ = std::make_unique<test::TemporaryFolder>();
    const auto written = run_shell(
        "cd '" + (*folder_ / "") +
        "' && M='" KVCHECK_SOURCE_DIR
        "/model/data' && X=$M/held-out.txt &&"
        " P='--policy dense --policy window --policy streaming --policy h2o --policy tova"
        " --policy random --policy fifo --policy lru --policy reservoir"
        " --policy streaming;timing=lazy:8' &&"
        " { $K record --model $M --text $X --tokens 128 --quiet -o t.safetensors &&"
        " $K replay t.safetensors $P --budget 16,32 --seeds 2 --oracle --quiet -o run.db &&"
        " $K eval --model $M --text $X --windows 128 --tokens 256 $P --budget 16,32 --quiet"
        " -o run.db &&"
        " $K speed --model $M --policy dense --policy h2o --budget 32 --length 64,128 --quiet"
        " -o run.db && $K report run.db --trace t.safetensors -o report; } >written.txt");
    ASSERT_EQ(written.status, 0) << written.err;
  }
};

TEST_P(ReportInBrowser, Passes) {
  const auto ran = run_shell("timeout 120 node '" KVCHECK_SOURCE_DIR "/tests/browser/report.mjs' " +
                             std::string(GetParam()) + " '" + packages + "' '" +
                             (*folder_ / "report/index.html") + "' 2>&1");
  EXPECT_EQ(ran.status, 0) << ran.out;
  EXPECT_THAT(ran.out, HasSubstr("passed: " + std::string(GetParam())));
}

INSTANTIATE_TEST_SUITE_P(
    Browser,
    ReportInBrowser,
    Values("tables", "filters", "gaps", "findings", "words", "links", "figures", "looks", "alone"),
    [](const auto& check) { return std::string(check.param); });

}  // namespace
}  // namespace kv
