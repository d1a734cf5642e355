// The same command writes the same bytes on any number of threads, with any kernels, once more, at
// other addresses and in other places of the world.
#include <algorithm>
#include <map>
#include <sstream>

#include "kvcheck/tests/cli/run.h"
#include "kvcheck/tests/paths.h"

namespace kv {
namespace {

using test::Ran;
using test::read_text;
using test::run_shell;
using testing::HasSubstr;

struct Surroundings {
  std::string name;
  std::string before;   // the command: variables, and programs that run others
  std::string options;  // after the command
};

void PrintTo(const Surroundings& surroundings, std::ostream* out) {
  *out << surroundings.name;
}

const Surroundings usual = {"OneThread", "", "--threads 1"};

// $L is a folder with a German locale.
const std::vector<Surroundings> others = {
    {"TwoThreads", "", "--threads 2"},
    {"FourThreads", "", "--threads 4"},
    {"SevenThreads", "", "--threads 7"},
    {"ScalarKernels", "KV_KERNEL=scalar", "--threads 2"},
    {"KernelsOfAvx2", "KV_KERNEL=avx2", "--threads 2"},
    {"KernelsOfSse4", "KV_KERNEL=sse4", "--threads 2"},
    {"AnotherRun", "", "--threads 1"},
    {"FixedAddresses", "setarch -R", "--threads 7"},
    {"DecimalCommas", "env LOCPATH=$L LC_ALL=de_DE.UTF-8", "--threads 2"},
    {"NoLocaleAndAnotherTime", "env LC_ALL=C TZ=Asia/Tokyo", "--threads 2"},
};

class SameBytes : public testing::TestWithParam<Surroundings> {
 protected:
  // Standard output, then every file that `command` writes. In it, $O is a new folder.
  std::map<std::string, std::string> written(const std::string& command,
                                             const Surroundings& surroundings) {
    const test::TemporaryFolder folder;
    const std::string line = "cd '" KVCHECK_SOURCE_DIR "'; O='" + (folder / "") + "'; L='" +
                             (locales_ / "") + "'; " + surroundings.before + " $K " + command +
                             " " + surroundings.options;
    const Ran ran = run_shell(line);
    EXPECT_EQ(ran.status, 0) << line << "\n" << ran.err;
    std::map<std::string, std::string> bytes = {{"standard output", ran.out}};
    for (const std::string& name : folder.names()) bytes[name] = read_text(folder / name);
    return bytes;
  }

  void compare(const std::string& command) {
    // Each command runs once in the usual surroundings, for all tests.
    static std::map<std::string, std::map<std::string, std::string>> expected;
    if (!expected.contains(command)) expected[command] = written(command, usual);
    const auto here = written(command, GetParam());
    ASSERT_EQ(expected[command].size(), here.size());
    for (const auto& [name, bytes] : expected[command]) {
      EXPECT_FALSE(bytes.empty() && name != "standard output") << name;
      EXPECT_TRUE(here.contains(name) && here.at(name) == bytes) << name << " differs";
    }
  }

  void SetUp() override {
    if (const std::string& before = GetParam().before; before.starts_with("KV_KERNEL=")) {
      if (run_shell(before + " $K --version").status != 0) GTEST_SKIP() << "not on this machine";
    }
    if (GetParam().name != "DecimalCommas") return;
    const Ran ran =
        run_shell("localedef -i de_DE -f UTF-8 '" + (locales_ / "de_DE.UTF-8") + "' && LOCPATH='" +
                  (locales_ / "") + "' LC_ALL=de_DE.UTF-8 bash -c \"printf '%.1f' 0\"");
    if (ran.out != "0,0") GTEST_SKIP() << "no German locale can be made here (Debian: locales)";
  }

  test::TemporaryFolder locales_;
};

TEST_P(SameBytes, OfAReplay) {
  compare(
      "replay traces/data/tinystories-2m.qkv.safetensors synthetic:zipf:tokens=96 --policy all "
      "--budget 24,48 --seeds 2 --oracle --oracle-tokens 128 --per-head -o $O/run.db "
      "--json $O/run.json --csv $O/run.csv --quiet");
}

TEST_P(SameBytes, OfAnEvaluation) {
  compare(
      "eval --model model/data --text model/data/held-out.txt --tokens 160 --windows 0,64 "
      "--policy dense --policy h2o --policy reservoir --policy 'streaming;positions=in-cache' "
      "--budget 32 --open-loop -o $O/run.db --json $O/run.json --csv $O/run.csv "
      "--markdown $O/run.md --quiet");
}

TEST_P(SameBytes, OfARecording) {
  const std::string record =
      "record --model model/data --text model/data/held-out.txt --tokens 96 -o $O/a.safetensors "
      "--quiet ";
  compare(record + "--kind qkv --storage f16");
  compare(record + "--kind attention --storage f32");
}

// A prompt of many tokens is one pass that all threads share; the tokens after it are short ones.
TEST_P(SameBytes, OfAGeneratedText) {
  compare(
      "generate --model model/data --prompt \"$(head -n 14 model/data/held-out.txt)\" --tokens 24 "
      "--policy h2o --budget 64 --seed 3");
}

TEST_P(SameBytes, OfSampledInclusions) {
  compare(
      "uniformity reservoir:sinks=2,recent=2,budget=12 --tokens 48 --trials 2000 "
      "--json $O/run.json --quiet");
}

INSTANTIATE_TEST_SUITE_P(Everywhere, SameBytes, testing::ValuesIn(others), [](const auto& test) {
  return test.param.name;
});

// The columns of these names, a line of text for each row.
std::string columns(const std::string& csv, const std::vector<std::string>& names) {
  std::istringstream lines(csv);
  std::vector<std::size_t> selected;
  std::string out;
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> fields;
    std::string field;
    bool quoted = false;
    for (const char c : line + ",") {
      if (c == '"') quoted = !quoted;
      if (c != ',' || quoted) {
        field += c;
      } else {
        fields.push_back(std::exchange(field, ""));
      }
    }
    if (selected.empty()) {
      for (const std::string& name : names) {
        const auto at = std::ranges::find(fields, name);
        EXPECT_NE(at, fields.end()) << name;
        selected.push_back(static_cast<std::size_t>(at - fields.begin()));
      }
    }
    for (const std::size_t i : selected) out += fields.at(i) + " ";
    out += "\n";
  }
  return out;
}

// With visibility=window a query sees what it would see if the stream came token by token.
TEST(SameNumbers, WhateverTheChunks) {
  std::string first;
  for (const std::string chunk : {"1", "2", "7", "64", "1000"}) {
    const Ran ran = run_shell(
        "$K replay synthetic:zipf:tokens=300 --policy 'window;visibility=window' --policy "
        "'streaming;visibility=window' --policy 'reservoir;visibility=window' --budget 32 --seeds "
        "3 "
        "--quiet --csv - --chunk " +
        chunk);
    ASSERT_EQ(ran.status, 0) << ran.err;
    const std::string here = columns(ran.out, {"policy", "seed", "retained_mass", "kl_to_dense",
                                               "visible_mean", "kept_at_end", "evictions"});
    if (first.empty()) first = here;
    EXPECT_EQ(here, first) << "chunk " << chunk;
    EXPECT_THAT(here, HasSubstr("reservoir 3 "));
  }
}

}  // namespace
}  // namespace kv
