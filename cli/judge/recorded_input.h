// What a command reads as a whole: a file, or what a pipe or standard input holds.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kvcheck/base/error.h"
#include "kvcheck/base/file.h"

namespace kv::cli {

class RecordedInput {
 public:
  // "-" is standard input. A regular file is mapped; a pipe, also as /dev/stdin or a shell's
  // process substitution, is read to its end into memory. Errors: those of MappedFile::open(), a
  // failed read, an interrupt meanwhile (io).
  static Result<RecordedInput> open(const std::string& path);

  [[nodiscard]] std::string_view text() const;

  // How sentences name it.
  [[nodiscard]] const std::string& name() const { return name_; }

  // As that of MappedFile; nothing can change what was read from a pipe.
  [[nodiscard]] Result<void> unchanged() const;

 private:
  explicit RecordedInput(std::string name) : name_(std::move(name)) {}

  std::string name_;
  std::optional<MappedFile> file_{};  // nullopt: the text was read
  std::string read_{};
};

}  // namespace kv::cli
