// The safetensors container: 8 bytes of header length (little-endian), a JSON header, tensor data.
//
// Source: the format description of github.com/huggingface/safetensors. As there, data must be
// covered completely: tensors may neither overlap nor leave bytes between or after them.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kvcheck/base/error.h"

namespace kv {

// The element types that traces use, and booleans, which some model files contain as masks. A file
// with any other type is refused.
enum class Dtype { boolean, u8, i32, i64, f16, bf16, f32, f64 };

// The name of the type in a header: "U8", "I32", ...
std::string_view dtype_name(Dtype dtype);
std::size_t dtype_bytes(Dtype dtype);

struct SafetensorsTensor {
  std::string name;
  Dtype dtype = Dtype::u8;
  std::vector<std::size_t> shape;
  std::span<const std::byte> data;  // exactly shape x dtype_bytes, not necessarily aligned
};

struct Safetensors {
  std::map<std::string, std::string> metadata;
  std::vector<SafetensorsTensor> tensors;  // in the order of their data

  // The tensor of that name, or null.
  [[nodiscard]] const SafetensorsTensor* find(std::string_view name) const;
};

// A longer header is refused before it is read, and is never written; 10000 layers fit.
inline constexpr std::size_t safetensors_header_limit = std::size_t{4} << 20;

// Checks and indexes `bytes`, which must outlive the result. Messages name the place inside the
// file but not the file. Memory: proportional to the header.
Result<Safetensors> parse_safetensors(std::span<const std::byte> bytes);

}  // namespace kv
