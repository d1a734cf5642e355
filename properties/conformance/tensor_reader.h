// Rows on their way into a cache of tensors and back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kvcheck/properties/cases/tensor_rows.h"
#include "kvcheck/properties/conformance/tensor_cache.h"

namespace kv::properties {

// A chunk's rows for one layer, [sequences][heads][tokens][size], as the cache is given them.
struct TensorChunk {
  std::vector<std::byte> keys;
  std::vector<std::byte> values;
  KeysAndValues views;
};

struct TensorRow {
  Row row;
  bool written = false;  // some number of its key or value is not 0
};

// Sequences and kv-heads are one index here, the head faster; what is wrong with an answer is
// thrown as SubjectFailed.
class TensorReader {
 public:
  TensorReader(const TensorFormat& format, const Setup& setup, bool positions);

  [[nodiscard]] std::size_t units() const {
    return std::size_t{setup_.sequences} * setup_.kv_heads;
  }

  // Keys are rotated for `positions`, unless the format has raw ones.
  [[nodiscard]] TensorChunk chunk(std::size_t layer,
                                  std::span<const Token> tokens,
                                  std::span<const double> positions) const;

  // [unit][row]. `what` names the rows in errors.
  [[nodiscard]] std::vector<std::vector<TensorRow>> read(const KeysAndValues& rows,
                                                         std::size_t layer,
                                                         const std::string& what) const;

  // [unit][query][row].
  [[nodiscard]] std::vector<std::uint8_t> mask(const Attended& attended,
                                               std::size_t layer,
                                               std::size_t queries) const;

 private:
  [[nodiscard]] Tensor view(const std::vector<std::byte>& bytes,
                            std::size_t tokens,
                            std::size_t size) const;
  [[nodiscard]] const void* address(const Tensor& tensor, std::size_t unit, std::size_t row) const;
  [[nodiscard]] TensorRow row_of(std::span<const float> key, std::span<const float> value) const;

  TensorFormat format_;
  Setup setup_;
  bool positions_;  // whether rows report them
  TensorRows rows_;
};

}  // namespace kv::properties
