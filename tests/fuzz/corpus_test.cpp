// The corpora of the fuzz targets, as ordinary tests. They need no clang.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>

#include "kvcheck/fuzz/target_table.h"
#include "kvcheck/tests/cli/run.h"
#include "kvcheck/tests/paths.h"
#include "kvcheck/tests/traces/files.h"

namespace kv::fuzz {
namespace {

// The files of a corpus, by name.
std::vector<std::string> inputs_of(const Target& target) {
  std::vector<std::string> paths;
  const std::string folder = KVCHECK_SOURCE_DIR "/fuzz/corpus/" + std::string(target.name);
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    paths.push_back(entry.path().string());
  }
  std::ranges::sort(paths);
  return paths;
}

// The bytes of each file below a folder by its path, without inputs that fuzzing found.
std::map<std::string, std::string> files_below(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (!entry.is_regular_file() || name.starts_with("found-")) continue;
    files[std::filesystem::relative(entry.path(), folder).string()] =
        test::bytes_of_file(entry.path().string());
  }
  return files;
}

// A change by hand would be lost when the script runs again.
TEST(CorpusScript, WritesWhatIsStored) {
  const test::TemporaryFolder folder;
  const test::Ran ran =
      test::run_shell("python3 -B '" KVCHECK_SOURCE_DIR "/fuzz/corpus.py' '" KVCHECK_PROGRAM "' '" +
                      (folder / "") + "' 2>&1");
  ASSERT_EQ(ran.status, 0) << ran.out;
  for (const std::string part : {"corpus", "dictionaries"}) {
    EXPECT_EQ(files_below(folder / part), files_below(KVCHECK_SOURCE_DIR "/fuzz/" + part));
  }
}

// libFuzzer refuses a dictionary with another escape, and so never runs the target.
TEST(CorpusScript, BackslashesOfDictionariesAreEscaped) {
  for (const auto& [name, text] : files_below(KVCHECK_SOURCE_DIR "/fuzz/dictionaries")) {
    for (std::size_t at = text.find('\\'); at != std::string::npos; at = text.find('\\', at + 2)) {
      EXPECT_THAT("\\\"x", testing::HasSubstr(text.substr(at + 1, 1))) << name;
    }
  }
}

class Corpus : public testing::TestWithParam<Target> {};

// A target that finds a fault ends its process, so each corpus runs in a child process, which names
// the input on its standard error.
TEST_P(Corpus, HoldsNoInputThatBreaksItsTarget) {
  const auto run_all = [] {
    for (const std::string& path : inputs_of(GetParam())) {
      std::fprintf(stderr, "%s\n", path.c_str());
      const std::string bytes = test::bytes_of_file(path);
      static_cast<void>(GetParam().run(std::as_bytes(std::span(bytes))));
    }
    ::_exit(0);
  };
  EXPECT_EXIT(run_all(), testing::ExitedWithCode(0), "");
}

// Otherwise fuzzing would try one side only.
TEST_P(Corpus, HoldsInputsThatAreAcceptedAndThatAreRefused) {
  std::size_t accepted = 0;
  std::size_t refused = 0;
  for (const std::string& path : inputs_of(GetParam())) {
    const std::string bytes = test::bytes_of_file(path);
    EXPECT_LE(bytes.size(), GetParam().longest) << path;
    ++(GetParam().run(std::as_bytes(std::span(bytes))) ? accepted : refused);
  }
  EXPECT_GE(accepted, 1U);
  EXPECT_GE(refused, 1U);
}

INSTANTIATE_TEST_SUITE_P(Fuzz,
                         Corpus,
                         testing::ValuesIn(targets().begin(), targets().end()),
                         [](const auto& of) { return std::string(of.param.name); });

}  // namespace
}  // namespace kv::fuzz
