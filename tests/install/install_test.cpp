// Installs into an empty prefix, then builds and runs a project that knows only that prefix.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "kvcheck/base/random/rng.h"
#include "kvcheck/base/version.h"
#include "kvcheck/policies/registry/registry.h"
#include "kvcheck/tests/paths.h"

namespace kv {
namespace {

namespace fs = std::filesystem;

class Install : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "kvcheck-install-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }

  void TearDown() override { fs::remove_all(folder_); }

  // Runs a shell command with its output in a file; that output when it fails.
  [[nodiscard]] testing::AssertionResult runs(const std::string& command) const {
    const int status = std::system((command + " > '" + log() + "' 2>&1").c_str());
    if (status == 0) return testing::AssertionSuccess();
    return testing::AssertionFailure() << command << "\n" << output();
  }

  [[nodiscard]] std::string log() const { return folder_ + "/log"; }

  [[nodiscard]] std::string output() const {
    std::ostringstream text;
    text << std::ifstream(log()).rdbuf();
    return text.str();
  }

  std::string folder_;
};

TEST_F(Install, AnotherProjectFindsBuildsAndRuns) {
  const std::string cmake = "'" KVCHECK_CMAKE "'";
  const std::string prefix = folder_ + "/prefix";
  const std::string build = folder_ + "/build";
  ASSERT_TRUE(runs(cmake + " --install '" KVCHECK_BINARY_DIR "' --prefix '" + prefix + "'"));
  ASSERT_TRUE(runs(cmake + " -S '" KVCHECK_SOURCE_DIR "/tests/install/consumer' -B '" + build +
                   "' -G Ninja -DCMAKE_PREFIX_PATH='" + prefix + "'"));
  ASSERT_TRUE(runs(cmake + " --build '" + build + "'"));
  ASSERT_TRUE(runs("'" + build + "/consumer'"));
  EXPECT_EQ(output(), "version " + std::string(version) + "\npolicies " +
                          std::to_string(policy_registry().size()) + "\ndraw " +
                          std::to_string(Rng(1).below(1000, 2)) + "\ntop-k 16\ntrace missing\n");

  EXPECT_TRUE(runs("'" + prefix + "/bin/kvcheck' --version"));
  for (const char* file : {"LICENSE", "README.md"}) {
    EXPECT_TRUE(fs::exists(prefix + "/share/doc/kvcheck/" + file)) << file;
  }
  EXPECT_FALSE(fs::exists(prefix + "/include/kvcheck/cli")) << "the command line is no library";
  EXPECT_FALSE(fs::exists(prefix + "/include/kvcheck/base/kernels/kernels_detail.h"));
}

TEST_F(Install, NothingInstalledNamesTheSourceTree) {
  const std::string prefix = folder_ + "/prefix";
  ASSERT_TRUE(
      runs("'" KVCHECK_CMAKE "' --install '" KVCHECK_BINARY_DIR "' --prefix '" + prefix + "'"));
  EXPECT_FALSE(runs("grep -rl --include='*.cmake' --include='*.h' -F '" KVCHECK_SOURCE_DIR "' '" +
                    prefix + "'"))
      << output();
}

}  // namespace
}  // namespace kv
