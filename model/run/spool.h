// A spool: numbers that arrive in another order than a file needs them, kept on disk until then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "kvcheck/base/error.h"

namespace kv::model {

class Spool {
 public:
  // A file without a name; the system removes it when the program ends, however that comes about.
  // It is beside `path`, where there must be room for what is going to be `path` anyway.
  static Result<Spool> create(const std::string& path);

  // A file of that name, which remains until remove() is called: a new one, or one of an earlier
  // program. Another program that has it open is an error of kind busy.
  static Result<Spool> open_named(const std::string& name);

  Spool(Spool&& other) noexcept;
  Spool& operator=(Spool&&) = delete;
  Spool(const Spool&) = delete;
  Spool& operator=(const Spool&) = delete;
  ~Spool();

  // Numbers from number `at` on. What is never put reads as 0.
  Result<void> put(std::uint64_t at, std::span<const float> values);
  [[nodiscard]] Result<void> get(std::uint64_t at, std::span<float> values) const;

  // Counts what is put from number `from` on, beside `sum`, which was put before (number_sum.h).
  void count(std::uint64_t from, std::uint64_t sum) {
    counted_from_ = from;
    sum_ = sum;
  }

  // Of what was counted, with places from the first counted number on.
  [[nodiscard]] std::uint64_t sum() const { return sum_; }

  // The error that what was got is not what was put.
  [[nodiscard]] Error damaged() const;

  // Returns when what was put is on the disk.
  Result<void> sync();

  // Forgets all numbers.
  Result<void> clear();

  // Removes the name, if it has one; what was put can still be read.
  void remove();

 private:
  Spool(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}

  int descriptor_;
  std::string path_;
  bool named_ = false;
  std::uint64_t counted_from_ = 0;
  std::uint64_t sum_ = 0;
};

}  // namespace kv::model
