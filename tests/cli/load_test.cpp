#include "kvcheck/cli/options/load.h"

#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "kvcheck/tests/traces/files.h"

namespace kv::cli {
namespace {

using namespace testing;

// The bytes of a shared library that this program uses.
std::string library_bytes() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const std::size_t path = line.find('/');
    if (path != std::string::npos && line.find("/libsqlite3.so") != std::string::npos) {
      return test::bytes_of_file(line.substr(path));
    }
  }
  return "";
}

// A library remains loaded, so each file is another one.
std::string error_of_loading(const std::string& bytes) {
  static int files = 0;
  const std::string path = test::temporary_file("library" + std::to_string(++files) + ".so", bytes);
  const std::vector<std::string> arguments = {"--load", path, "policies"};
  const Result<std::size_t> loaded = load_policies(arguments);
  return loaded ? "loaded" : loaded.error().message;
}

TEST(Load, ALibraryWithoutPoliciesIsNamed) {
  EXPECT_THAT(error_of_loading(library_bytes()), HasSubstr(".so' exports no policies"));
}

TEST(Load, APythonFileHasAWayOfItsOwn) {
  const std::string path = test::temporary_file("policies.py", "import kvcheck\n");
  const std::vector<std::string> arguments = {"--load", path, "policies"};
  const Result<std::size_t> loaded = load_policies(arguments);
  ASSERT_FALSE(loaded);
  EXPECT_THAT(loaded.error().message,
              HasSubstr("expected a shared library, or python3 -m kvcheck --load "));
}

TEST(Load, ALibraryThatIsCutOffIsRefused) {
  const std::string whole = library_bytes();
  ASSERT_GT(whole.size(), 100'000U);
  for (const std::size_t size : {std::size_t{0}, std::size_t{40}, std::size_t{63}}) {
    EXPECT_THAT(error_of_loading(whole.substr(0, size)), HasSubstr(".so' cannot be loaded: "));
  }
  for (const std::size_t size :
       {std::size_t{64}, std::size_t{100}, std::size_t{3000}, whole.size() / 2}) {
    EXPECT_THAT(error_of_loading(whole.substr(0, size)),
                HasSubstr(".so' has " + std::to_string(size) + " bytes; expected "));
  }
}

// Every tenth instruction or address of the library is another one.
TEST(Load, ALibraryThatKillsItsLoaderDoesNotEndTheProgram) {
  std::string damaged = library_bytes();
  for (std::size_t i = 1000; i < damaged.size(); i += 10) damaged[i] = '\x0b';
  EXPECT_THAT(error_of_loading(damaged),
              HasSubstr(".so' cannot be loaded: the process that tried "));
}

}  // namespace
}  // namespace kv::cli
