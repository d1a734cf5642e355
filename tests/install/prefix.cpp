#include "kvcheck/tests/install/prefix.h"
#include "kvcheck/tests/paths.h"

#include <sys/wait.h>

namespace kv::test {

const Prefix& Prefix::get() {
  static const Prefix prefix;
  return prefix;
}

Prefix::Prefix() {
  std::string pattern = testing::TempDir() + "kvcheck-prefix-XXXXXX";
  folder_ = ::mkdtemp(pattern.data());
  const Ran ran = run("'" KVCHECK_CMAKE "' --install '" KVCHECK_BINARY_DIR "' --prefix '" +
                      folder_ + "/prefix'");
  EXPECT_EQ(ran.status, 0) << ran.output;
}

Prefix::~Prefix() {
  std::filesystem::remove_all(folder_);
}

Prefix::Ran Prefix::run(const std::string& command) const {
  const std::string log = folder_ + "/log";
  const int status = std::system(("( " + command + " ) > '" + log + "' 2>&1").c_str());
  std::ostringstream text;
  text << std::ifstream(log).rdbuf();
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text.str()};
}

}  // namespace kv::test
