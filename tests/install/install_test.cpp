// Installs into an empty prefix, then builds and runs a project that knows only that prefix.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <vector>

#include "kvcheck/base/random/rng.h"
#include "kvcheck/base/version.h"
#include "kvcheck/policies/registry/registry.h"
#include "kvcheck/tests/cli/run.h"
#include "kvcheck/tests/paths.h"

namespace kv {
namespace {

namespace fs = std::filesystem;

const std::string cmake = "'" KVCHECK_CMAKE "'";

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

  [[nodiscard]] std::string prefix() const { return folder_ + "/prefix"; }

  [[nodiscard]] testing::AssertionResult installs() const {
    return runs(cmake + " --install '" KVCHECK_BINARY_DIR "' --prefix '" + prefix() + "'");
  }

  [[nodiscard]] testing::AssertionResult builds(const std::string& project,
                                                const std::string& settings = {});

  [[nodiscard]] std::string log() const { return folder_ + "/log"; }

  [[nodiscard]] std::string output() const {
    std::ostringstream text;
    text << std::ifstream(log()).rdbuf();
    return text.str();
  }

  std::string folder_;
};

// Configures and builds a project of tests/install against the prefix; `settings` are more words
// for cmake.
testing::AssertionResult Install::builds(const std::string& project, const std::string& settings) {
  const std::string build = folder_ + "/" + project;
  auto configured = runs(cmake + " -S '" KVCHECK_SOURCE_DIR "/tests/install/" + project + "' -B '" +
                         build + "' -G Ninja -DCMAKE_PREFIX_PATH='" + prefix() + "' " + settings);
  return configured ? runs(cmake + " --build '" + build + "'") : configured;
}

TEST_F(Install, AnotherProjectFindsBuildsAndRuns) {
  ASSERT_TRUE(installs());
  ASSERT_TRUE(builds("consumer"));
  ASSERT_TRUE(runs("'" + folder_ + "/consumer/consumer'"));
  EXPECT_EQ(output(), "version " + std::string(version) + "\npolicies " +
                          std::to_string(policy_registry().size()) + "\ndraw " +
                          std::to_string(Rng(1).below(1000, 2)) +
                          "\ntop-k 16\ntrace missing\nown 6\n");

  EXPECT_TRUE(runs("'" + prefix() + "/bin/kvcheck' --version"));
  const std::string documents = prefix() + "/share/doc/kvcheck/";
  for (const char* file : {"LICENSE", "README.md", "docs/images/budget.png"}) {
    EXPECT_TRUE(fs::exists(documents + file)) << file;
  }
  // Documents find each other.
  const std::regex link(R"(\]\(([a-z./-]*[A-Za-z-]+\.md)[#)])");
  std::size_t links = 0;
  for (const char* file : {"README.md", "docs/python.md", "docs/specs.md", "docs/sweeps.md"}) {
    const std::string text = test::read_text(documents + file);
    for (std::sregex_iterator at(text.begin(), text.end(), link); at != std::sregex_iterator();
         ++at) {
      const fs::path target = (fs::path(file).parent_path() / at->str(1)).lexically_normal();
      const std::string folder = target.has_parent_path() ? target.begin()->string() : "";
      if (folder != "docs") continue;
      EXPECT_TRUE(fs::exists(documents + target.string())) << file << " links to " << target;
      ++links;
    }
  }
  EXPECT_GT(links, 15U);
  EXPECT_FALSE(fs::exists(prefix() + "/include/kvcheck/cli")) << "the command line is no library";
  EXPECT_FALSE(fs::exists(prefix() + "/include/kvcheck/base/kernels/kernels_detail.h"));
}

TEST_F(Install, OneSourceCanIncludeEveryPublicHeader) {
  ASSERT_TRUE(installs());
  std::vector<std::string> headers;
  for (const auto& entry : fs::recursive_directory_iterator(prefix() + "/include")) {
    if (entry.path().extension() != ".h") continue;
    headers.push_back(fs::relative(entry.path(), prefix() + "/include").generic_string());
  }
  ASSERT_GT(headers.size(), 80U);
  std::ranges::sort(headers);
  const std::string source = folder_ + "/all_headers.cpp";
  std::ofstream text(source);
  for (const std::string& header : headers) text << "#include \"" << header << "\"\n";
  text << "int main() {}\n";
  text.close();
  EXPECT_TRUE(builds("all_headers", "-DHEADERS_SOURCE='" + source + "'"));
}

TEST_F(Install, ConformanceNeedsNoSqliteNoLibzipAndNoIcu) {
  ASSERT_TRUE(installs());
  const std::string laws = " -DLAWS_SOURCE='" KVCHECK_SOURCE_DIR "/examples/cpp/my_laws.cpp'";
  const std::string bare =
      "-DCMAKE_DISABLE_FIND_PACKAGE_SQLite3=ON "
      "-DCMAKE_DISABLE_FIND_PACKAGE_PkgConfig=ON" +
      laws;
  ASSERT_TRUE(builds("conformance_only", bare));
  EXPECT_TRUE(runs("'" + folder_ + "/conformance_only/laws' SinkWindow --filter visible.sinks"));
  EXPECT_FALSE(runs("ldd '" + folder_ + "/conformance_only/laws' | grep -E 'sqlite|libzip|libicu'"))
      << output();
  // The same machine cannot find what does need them.
  EXPECT_FALSE(builds("all_headers", bare));
}

TEST_F(Install, AnUnknownComponentIsNamed) {
  ASSERT_TRUE(installs());
  const std::string project = folder_ + "/project";
  fs::create_directory(project);
  std::ofstream(project + "/CMakeLists.txt")
      << "cmake_minimum_required(VERSION 3.23)\nproject(x LANGUAGES CXX)\n"
         "find_package(kvcheck REQUIRED COMPONENTS simulator)\n";
  EXPECT_FALSE(runs(cmake + " -S '" + project + "' -B '" + folder_ +
                    "/x' -G Ninja -DCMAKE_PREFIX_PATH='" + prefix() + "'"));
  EXPECT_THAT(output(), testing::HasSubstr("there is no component 'simulator'"));
}

TEST_F(Install, NothingInstalledNamesTheSourceTree) {
  ASSERT_TRUE(installs());
  EXPECT_FALSE(runs("grep -rl --include='*.cmake' --include='*.h' -F '" KVCHECK_SOURCE_DIR "' '" +
                    prefix() + "'"))
      << output();
}

}  // namespace
}  // namespace kv
