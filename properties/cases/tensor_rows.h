// Rows of the sizes and number types of real caches, which say when read back whose they are.
//
// A tag has 48 bits: position, variant, place and check bits. It is cut into one digit for each
// rotary pair of a key, which is the pair's length less 1, and one for each number of a value:
// twelve digits of four bits if there is room for twelve, repeated where there is room for more, so
// that every number is read and a row that is partly another's is no token's. All numbers of
// values are whole and at most 64, which f16 and bf16 hold exactly. The same rows as those of
// python/kvcheck/tags.py.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kvcheck/properties/cases/payload.h"
#include "kvcheck/properties/cases/tensor_format.h"

namespace kv::properties {

// Not thread-safe: it remembers what it read, since every call tells all rows. Copies share that.
class TensorRows {
 public:
  // Requires wrong_format(format) to be empty.
  explicit TensorRows(const TensorFormat& format);

  [[nodiscard]] std::size_t key_size() const { return 2 * pairs_; }

  [[nodiscard]] std::size_t value_size() const { return value_size_; }

  // Require what tags can say (payload.h), and spans of the sizes. The key is rotated for
  // `position`, in double.
  void encode_key(Token token, const Place& place, double position, std::span<float> key) const;
  void encode_value(Token token, const Place& place, std::span<float> value) const;

  // Garbage says Token{-1, 0}. Cost: O(size), some transcendental functions for each pair of a key.
  [[nodiscard]] KeyReading read_key(std::span<const float> key) const;
  [[nodiscard]] ValueReading read_value(std::span<const float> value) const;

 private:
  struct Known;

  [[nodiscard]] KeyReading decoded(std::span<const float> key) const;

  [[nodiscard]] std::size_t x_of(std::size_t pair) const { return interleaved_ ? 2 * pair : pair; }

  [[nodiscard]] std::size_t y_of(std::size_t pair) const {
    return interleaved_ ? 2 * pair + 1 : pair + pairs_;
  }

  std::size_t pairs_;
  std::size_t value_size_;
  bool interleaved_;
  std::vector<double> speeds_;  // radians a position, by pair
  std::shared_ptr<Known> known_;
};

// Numbers of such a type in memory, and back.
std::size_t bytes_of(Number type);
void write_numbers(std::span<const float> numbers, Number type, void* out);
void read_numbers(const void* numbers, Number type, std::span<float> out);

}  // namespace kv::properties
