// Rows of equal size, by index. Freed rows are used again, and room grows by eighths.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kv::model {

class RowPool {
 public:
  explicit RowPool(std::size_t row_bytes) : row_bytes_(row_bytes) {}

  // A row of zeros.
  std::uint32_t take();

  void give_back(std::uint32_t row) { free_.push_back(row); }

  [[nodiscard]] std::byte* at(std::uint32_t row) { return rows_.data() + row * row_bytes_; }

  [[nodiscard]] const std::byte* at(std::uint32_t row) const {
    return rows_.data() + row * row_bytes_;
  }

  // Rows that are taken.
  [[nodiscard]] std::size_t taken() const { return rows_.size() / row_bytes_ - free_.size(); }

  // Of the most rows that were taken at once.
  [[nodiscard]] std::size_t bytes() const { return rows_.size(); }

 private:
  std::size_t row_bytes_;
  std::vector<std::byte> rows_;
  std::vector<std::uint32_t> free_;
};

}  // namespace kv::model
