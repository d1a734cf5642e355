// A spool: numbers that arrive in another order than a file needs them, kept on disk until then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "kvcheck/base/error.h"

namespace kv::model {

// A file without a name; the system removes it when the program ends, however that comes about.
class Spool {
 public:
  // Beside `path`, where there must be room for what is going to be `path` anyway.
  static Result<Spool> create(const std::string& path);

  Spool(Spool&& other) noexcept;
  Spool& operator=(Spool&&) = delete;
  Spool(const Spool&) = delete;
  Spool& operator=(const Spool&) = delete;
  ~Spool();

  // Numbers from number `at` on. What is never put reads as 0.
  Result<void> put(std::uint64_t at, std::span<const float> values);
  [[nodiscard]] Result<void> get(std::uint64_t at, std::span<float> values) const;

 private:
  Spool(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}

  int descriptor_;
  std::string path_;
};

}  // namespace kv::model
