// The examples as a user has them: an installed kvcheck and a copy of the example. The right cache
// of each example passes; in the broken one a law finds the fault, with a case that a person can
// read.
#include "kvcheck/tests/install/prefix.h"
#include "kvcheck/tests/paths.h"

namespace kv {
namespace {

using test::Prefix;
using testing::HasSubstr;
using testing::Not;

class Examples : public testing::Test {
 protected:
  // A copy of an example, away from the tree.
  [[nodiscard]] std::string copied(const std::string& name) const {
    std::filesystem::copy(KVCHECK_SOURCE_DIR "/examples/" + name, prefix_ / name,
                          std::filesystem::copy_options::recursive |
                              std::filesystem::copy_options::overwrite_existing);
    return prefix_ / name;
  }

  [[nodiscard]] std::string python(const std::string& program) const {
    return "PYTHONPATH='" + prefix_ / "prefix/share/kvcheck/python" + "' " + interpreter_ + " '" +
           program + "'";
  }

  void expect_holds(const std::string& words) const {
    const auto ran = prefix_.run(prefix_.kvcheck() + " check --quiet " + words);
    EXPECT_EQ(ran.status, 0) << ran.output;
    EXPECT_THAT(ran.output, HasSubstr("0 broken"));
  }

  // Broken, with a picture and the line that repeats it.
  void expect_caught(const std::string& words, const std::string& law) const {
    const auto ran = prefix_.run(prefix_.kvcheck() + " check --quiet --all " + words);
    EXPECT_EQ(ran.status, 1) << ran.output;
    EXPECT_THAT(ran.output, HasSubstr(law));
    EXPECT_THAT(ran.output, HasSubstr("query"));
    EXPECT_THAT(ran.output, HasSubstr("--reproduce"));
  }

  const Prefix& prefix_ = Prefix::get();
  std::string interpreter_ = "python3";
};

TEST_F(Examples, Python) {
  const std::string program = python(copied("python") + "/sink_window.py");
  expect_holds("--exec \"" + program + "\"");
  expect_caught("--exec \"" + program + " --broken\"", "visible");
  const auto right = prefix_.run(prefix_.kvcheck() + " protocol \"" + program + "\"");
  EXPECT_EQ(right.status, 0) << right.output;
}

TEST_F(Examples, Torch) {
  for (const char* python3 : {"python3", "/usr/bin/python3"}) {
    interpreter_ = python3;
    if (prefix_.run(interpreter_ + " -c 'import torch'").status == 0) break;
    interpreter_.clear();
  }
  if (interpreter_.empty()) GTEST_SKIP() << "there is no PyTorch here (Debian: python3-torch)";
  const std::string program = python(copied("torch") + "/sink_cache.py");
  expect_holds("--exec \"" + program + "\" --time 30s");
  expect_caught("--exec \"" + program + " --broken\" --filter 'row.*'", "value");
}

TEST_F(Examples, SharedLibraryInC) {
  const std::string source = copied("c_plugin") + "/sink_window.c";
  for (const char* flags : {"", "-DBROKEN"}) {
    const std::string library = prefix_ / (*flags == 0 ? "good.so" : "broken.so");
    const auto built = prefix_.run("cc -std=c11 -Wall -Wextra -Werror -shared -fPIC " +
                                   std::string(flags) + " -I'" + prefix_ / "prefix/include" +
                                   "' '" + source + "' -o '" + library + "'");
    ASSERT_EQ(built.status, 0) << built.output;
    if (*flags == 0) {
      expect_holds("--plugin '" + library + "'");
    } else {
      expect_caught("--plugin '" + library + "'", "value");
    }
  }
}

TEST_F(Examples, ProjectInCpp) {
  const std::string cmake = "'" KVCHECK_CMAKE "'";
  const std::string source = copied("cpp");
  const std::string build = prefix_ / "cpp-build";
  const auto configured =
      prefix_.run(cmake + " -S '" + source + "' -B '" + build + "' -G Ninja -DCMAKE_PREFIX_PATH='" +
                  prefix_ / "prefix" + "' -DCMAKE_BUILD_TYPE=Release");
  ASSERT_EQ(configured.status, 0) << configured.output;
  const auto built = prefix_.run(cmake + " --build '" + build + "'");
  ASSERT_EQ(built.status, 0) << built.output;

  const auto holds = prefix_.run("'" + build + "/my_laws' SinkWindow --quiet");
  EXPECT_EQ(holds.status, 0) << holds.output;
  const auto caught = prefix_.run("'" + build + "/my_laws' Broken --quiet");
  EXPECT_EQ(caught.status, 1) << caught.output;
  EXPECT_THAT(caught.output, HasSubstr("cpp-build/my_laws Broken --reproduce"));
  const auto unknown = prefix_.run("'" + build + "/my_laws' Brokn 2>&1");
  EXPECT_THAT(unknown.output, HasSubstr("unknown subject 'Brokn'; did you mean 'Broken'?"));

  const auto help = prefix_.run("'" + build + "/my_laws' Broken --help");
  EXPECT_EQ(help.status, 0);
  EXPECT_THAT(help.output, HasSubstr("cpp-build/my_laws [SUBJECT] [OPTIONS]"));
  EXPECT_THAT(help.output, HasSubstr("Subjects: Broken, SinkWindow\n"));
  EXPECT_THAT(help.output, Not(HasSubstr("--plugin")));

  const auto listed = prefix_.run("cd '" + build + "' && ctest -N");
  EXPECT_THAT(listed.output, HasSubstr("my_laws.SinkWindow.survives"));
  const auto one = prefix_.run("cd '" + build + "' && ctest -R SinkWindow.survives");
  EXPECT_EQ(one.status, 0) << one.output;
  EXPECT_THAT(one.output, HasSubstr("100% tests passed"));
}

// A policy in a shared library, in every command that takes one.
TEST_F(Examples, PolicyInALibrary) {
  const std::string cmake = "'" KVCHECK_CMAKE "'";
  const std::string source = copied("policy");
  const std::string build = prefix_ / "policy-build";
  const auto built = prefix_.run(
      cmake + " -S '" + source + "' -B '" + build + "' -G Ninja -DCMAKE_PREFIX_PATH='" +
      prefix_ / "prefix" + "' -DCMAKE_BUILD_TYPE=Release && " + cmake + " --build '" + build + "'");
  ASSERT_EQ(built.status, 0) << built.output;
  const std::string library = "--load '" + build + "/libmy_policy.so' ";
  const std::string trace = "'" KVCHECK_SOURCE_DIR "/traces/data/tinystories-2m.qkv.safetensors' ";
  const std::string model = "--model '" KVCHECK_SOURCE_DIR "/model/data' ";
  for (const std::string& words : std::vector<std::string>{
           "policies --show outward", "replay " + trace + "--policy outward --budget 64 --oracle",
           "check outward:budget=12 --quiet",
           "eval " + model +
               "--text '" KVCHECK_SOURCE_DIR
               "/model/data/held-out.txt' --tokens 300 --policy outward --budget 64",
           "speed " + model + "--policy outward --budget 32 --length 64 --tokens 2",
           "uniformity outward:budget=16 --tokens 40 --trials 100"}) {
    const auto ran = prefix_.run(prefix_.kvcheck() + " " + library + words);
    // The policy does not claim to be uniform, and it is not.
    EXPECT_EQ(ran.status, words.starts_with("uniformity") ? 1 : 0) << words << "\n" << ran.output;
    EXPECT_THAT(ran.output, HasSubstr("outward")) << words;
  }
  const auto twice = prefix_.run(prefix_.kvcheck() + " " + library + library + "policies");
  EXPECT_EQ(twice.status, 2);
  EXPECT_THAT(twice.output, HasSubstr("there is a policy 'outward' already"));
}

}  // namespace
}  // namespace kv
