// GGUF files: metadata entries, and tensors as views of the file's bytes.
//
// Source: docs/gguf.md of ggml (github.com/ggml-org/ggml). Versions 2 and 3, little-endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/base/file.h"
#include "kvcheck/base/number.h"
#include "kvcheck/model/kernels/quantised.h"

namespace kv::model {

// Types of values, by their numbers in files.
enum class GgufType : std::uint32_t {
  u8,
  i8,
  u16,
  i16,
  u32,
  i32,
  f32,
  boolean,
  text,
  list,
  u64,
  i64,
  f64,
};

// One value, or a list of values of one type. The accessors give nothing if the value is of another
// kind; their vectors are no longer than the file.
class GgufValue {
 public:
  GgufValue() = default;

  GgufValue(GgufType type, std::optional<std::uint64_t> length, std::span<const std::byte> bytes)
      : type_(type), length_(length), bytes_(bytes) {}

  [[nodiscard]] std::optional<std::uint64_t> count() const;  // a whole number of at least 0
  [[nodiscard]] std::optional<double> number() const;        // f32 or f64
  [[nodiscard]] std::optional<bool> flag() const;
  [[nodiscard]] std::optional<std::string_view> text() const;
  [[nodiscard]] std::optional<std::vector<std::uint64_t>> counts() const;
  [[nodiscard]] std::optional<std::vector<double>> numbers() const;
  [[nodiscard]] std::optional<std::vector<bool>> flags() const;
  [[nodiscard]] std::optional<std::vector<std::string_view>> texts() const;

  // For messages: "the count 7", "a list of 3 texts".
  [[nodiscard]] std::string described() const;

 private:
  GgufType type_ = GgufType::u8;         // of a list: of its values
  std::optional<std::uint64_t> length_;  // of a list
  std::span<const std::byte> bytes_;     // of all values; texts with their lengths
};

// A tensor whose bytes lie in the file.
struct GgufTensor {
  std::vector<std::size_t> shape;  // slowest first: [rows, columns], or [numbers]
  Number number = Number::f32;
  Quantisation quantised = Quantisation::none;  // otherwise `number` is f32
  std::string_view type;                        // "F32", "Q4_K"
  std::span<const std::byte> data;
};

struct Gguf {
  std::map<std::string, GgufValue, std::less<>> metadata;
  std::map<std::string, GgufTensor, std::less<>> tensors;
};

// Bytes of one value; 0 for texts and lists.
std::size_t gguf_value_bytes(GgufType type);

// Views of `bytes`. Errors begin with a verb, for a caller that puts the file's name before it;
// they name the entry or tensor, what was found and what was expected. Cost: linear in the
// metadata.
Result<Gguf> parse_gguf(std::span<const std::byte> bytes);

// Whether the file begins as GGUF files do; false if it cannot be read.
bool is_gguf(const std::string& path);

struct GgufFile {
  std::shared_ptr<const MappedFile> file;  // keeps the bytes alive
  Gguf content;
};

// Errors name the file.
Result<GgufFile> open_gguf(const std::string& path);

}  // namespace kv::model
