// An output that is opened before long work and written after it.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "kvcheck/base/error.h"
#include "kvcheck/base/file.h"
#include "kvcheck/cli/options/command.h"

namespace kv::cli {

class LateFile {
 public:
  // An empty path: nothing will be written. "-": standard output. Any other path: open() returns an
  // error if the file cannot be created; the file appears whole when write() is called.
  static Result<LateFile> open(const std::string& path);

  [[nodiscard]] bool is_standard_output() const { return standard_output_; }

  [[nodiscard]] bool is_requested() const { return standard_output_ || file_ != nullptr; }

  Result<void> write(std::string_view text, Streams& streams);

 private:
  std::unique_ptr<AtomicFile> file_;
  bool standard_output_ = false;
};

}  // namespace kv::cli
