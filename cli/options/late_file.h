// An output that is checked before long work and written after it.
#pragma once

#include <string>
#include <string_view>

#include "kvcheck/base/error.h"
#include "kvcheck/cli/options/command.h"

namespace kv::cli {

class LateFile {
 public:
  // An empty path: nothing will be written. "-": standard output. Any other path: open() returns an
  // error if the file cannot be created; write() is write_output().
  static Result<LateFile> open(const std::string& path);

  [[nodiscard]] bool is_standard_output() const { return standard_output_; }

  [[nodiscard]] bool is_requested() const { return standard_output_ || !path_.empty(); }

  Result<void> write(std::string_view text, Streams& streams);

 private:
  std::string path_;
  bool standard_output_ = false;
};

}  // namespace kv::cli
