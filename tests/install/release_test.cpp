// What a release consists of agrees with the sources: one version, and one list of packages.
#include <regex>
#include <set>

#include "kvcheck/base/text/text.h"
#include "kvcheck/base/version.h"
#include "kvcheck/properties/remote/plugin.h"
#include "kvcheck/properties/remote/request_json.h"
#include "kvcheck/reports/store/schema.h"
#include "kvcheck/tests/cli/run.h"
#include "kvcheck/tests/paths.h"
#include "kvcheck/tests/reports/fake_replay.h"

namespace kv {
namespace {

using testing::read_text;

const std::string root = KVCHECK_SOURCE_DIR;

// The part of the text between the marks.
std::string between(const std::string& text, const std::string& from, const std::string& to) {
  const std::size_t begin = text.find(from);
  EXPECT_NE(begin, std::string::npos) << from;
  const std::size_t at = begin + from.size();
  return text.substr(at, text.find(to, at) - at);
}

TEST(Release, HasOneVersion) {
  EXPECT_EQ(between(read_text(root + "/CITATION.cff"), "\nversion: ", "\n"), version);
  EXPECT_EQ(
      between(read_text(root + "/CMakeLists.txt"), "VERSION 3.23)\nproject(kvcheck VERSION ", " "),
      version);
  EXPECT_THAT(read_text(root + "/CHANGELOG.md"),
              ::testing::HasSubstr("\n## " + std::string(version)));
}

// The page of what is stable has the numbers of formats that the sources have.
TEST(Release, PageOfVersionsHasTheNumbersOfFormats) {
  const std::string page = read_text(root + "/docs/versions.md");
  const auto number = [&](const std::string& what) {
    return between(between(page, "| [" + what + "](", "\n"), ") | ", " |");
  };
  EXPECT_EQ(number("Results files"), std::to_string(reports::results_schema_version));
  EXPECT_EQ(between(page, "schema version ", " "), std::to_string(reports::oldest_schema_version));
  EXPECT_EQ(number("Line protocol"), std::to_string(properties::protocol_version));
  EXPECT_EQ(number("C interface"), std::to_string(KVP_ABI_VERSION));
}

// The packages that a file installs from "g++" on, up to the end of the paragraph.
std::set<std::string> installed_by(const std::string& file) {
  const std::string install =
      "g++" + between(read_text(root + "/" + file),
                      "apt-get install -y --no-install-recommends g++", "\n\n");
  std::set<std::string> installed;
  const std::regex word("[a-z0-9.+-]+");
  for (auto at = std::sregex_iterator(install.begin(), install.end(), word);
       at != std::sregex_iterator(); ++at) {
    installed.insert(at->str());
  }
  return installed;
}

// The packages that the recipe for GitHub installs are those that ./dev installs for a build, so
// that a library that is added to one is not missing in the other.
TEST(Release, RecipeInstallsWhatABuildNeeds) {
  const std::string dev = between(read_text(root + "/dev"), "\nbuild_packages='\n", "\n'");
  std::set<std::string> needed;
  for (const std::string_view line : split(dev, '\n')) {
    const std::string name(line.substr(0, line.find_first_of(" |")));
    const bool for_tests = line.find("test") != std::string_view::npos ||
                           line.find("benchmarks") != std::string_view::npos;
    const bool for_figures = name == "gnuplot-nox" || name == "fonts-dejavu-core";
    const bool for_modules = line.find("Python package") != std::string_view::npos ||
                             line.find("sweeps by MPI") != std::string_view::npos;
    // Property tests are what the recipe is for.
    const bool for_users = !for_tests && !for_figures && !for_modules;
    if (for_users || name == "librapidcheck-dev") needed.insert(name);
  }
  EXPECT_GE(needed.size(), 9U);
  std::set<std::string> installed = installed_by("examples/ci/github-actions.yml");
  for (const std::string& name : needed) EXPECT_TRUE(installed.contains(name)) << name;
  // These make a Debian package.
  for (const std::string own : {"dpkg-dev", "file"}) EXPECT_EQ(installed.erase(own), 1U) << own;
  EXPECT_EQ(installed, needed);
}

TEST(Release, ImageIsBuiltWithThePackagesOfTheRecipe) {
  EXPECT_EQ(installed_by("Dockerfile"), installed_by("examples/ci/github-actions.yml"));
}

// The recipe names no tag: it would have to exist first.
TEST(Release, RecipeTakesAVersionThatExists) {
  const std::string recipe = read_text(root + "/examples/ci/github-actions.yml");
  EXPECT_EQ(recipe.find("v0."), std::string::npos);
  EXPECT_NE(recipe.find("actions/cache@"), std::string::npos);
}

// What of the runner of ./dev recipe needs no root: tests in Python.
TEST(Release, RecipeIsReadAsTheServiceReadsIt) {
  for (const std::string python3 : {"python3", "/usr/bin/python3"}) {
    if (test::run_shell(python3 + " -c 'import yaml'").status != 0) continue;
    const test::Ran ran =
        test::run_shell(python3 + " -B '" + root + "/tests/install/recipe/test_recipe.py' 2>&1");
    EXPECT_EQ(ran.status, 0) << ran.out;
    EXPECT_THAT(ran.out, ::testing::HasSubstr("Ran 14 tests"));
    return;
  }
  GTEST_SKIP() << "there is no PyYAML (Debian: python3-yaml)";
}

}  // namespace
}  // namespace kv
