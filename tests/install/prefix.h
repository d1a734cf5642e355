// An installed kvcheck in a folder of its own, for tests that know nothing but that folder.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace kv::test {

// Installs once a process; removed at its end.
class Prefix {
 public:
  static const Prefix& get();

  Prefix(const Prefix&) = delete;
  Prefix& operator=(const Prefix&) = delete;
  ~Prefix();

  // A path under the folder that holds the prefix, which is "prefix".
  [[nodiscard]] std::string operator/(const std::string& name) const {
    return folder_ + "/" + name;
  }

  [[nodiscard]] std::string kvcheck() const { return "'" + folder_ + "/prefix/bin/kvcheck'"; }

  struct Ran {
    int status = -1;
    std::string output;  // both streams
  };

  // Runs a shell command.
  [[nodiscard]] Ran run(const std::string& command) const;

 private:
  Prefix();

  std::string folder_;
};

}  // namespace kv::test
