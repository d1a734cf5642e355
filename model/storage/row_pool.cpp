#include "kvcheck/model/storage/row_pool.h"

#include <algorithm>

namespace kv::model {

std::uint32_t RowPool::take() {
  if (!free_.empty()) {
    const std::uint32_t row = free_.back();
    free_.pop_back();
    std::fill_n(at(row), row_bytes_, std::byte{0});
    return row;
  }
  const std::size_t rows = rows_.size() / row_bytes_;
  // By eighths: a vector by itself doubles, and half of a large cache would lie unused.
  if (rows_.size() == rows_.capacity()) rows_.reserve((rows + 1 + rows / 8) * row_bytes_);
  rows_.resize((rows + 1) * row_bytes_);
  return static_cast<std::uint32_t>(rows);
}

}  // namespace kv::model
