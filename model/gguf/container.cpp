#include "kvcheck/model/gguf/container.h"

#include <array>
#include <cstring>

#include "kvcheck/base/text/describe.h"
#include "kvcheck/base/text/text.h"

namespace kv::model {
namespace {

template <typename T>
T read(const std::byte* at) {
  T value{};
  std::memcpy(&value, at, sizeof value);
  return value;
}

template <typename T>
std::optional<std::uint64_t> not_negative(const std::byte* at) {
  const T value = read<T>(at);
  if (value < T{}) return {};
  return static_cast<std::uint64_t>(value);
}

std::optional<std::uint64_t> count_at(GgufType type, const std::byte* at) {
  switch (type) {
    case GgufType::u8:
      return read<std::uint8_t>(at);
    case GgufType::u16:
      return read<std::uint16_t>(at);
    case GgufType::u32:
      return read<std::uint32_t>(at);
    case GgufType::u64:
      return read<std::uint64_t>(at);
    case GgufType::i8:
      return not_negative<std::int8_t>(at);
    case GgufType::i16:
      return not_negative<std::int16_t>(at);
    case GgufType::i32:
      return not_negative<std::int32_t>(at);
    case GgufType::i64:
      return not_negative<std::int64_t>(at);
    default:
      return {};
  }
}

std::optional<double> number_at(GgufType type, const std::byte* at) {
  if (type == GgufType::f32) return static_cast<double>(read<float>(at));
  if (type == GgufType::f64) return read<double>(at);
  return {};
}

std::optional<bool> flag_at(GgufType type, const std::byte* at) {
  const auto byte = static_cast<unsigned>(*at);
  if (type != GgufType::boolean || byte > 1) return {};
  return byte == 1;
}

// Every item of a list of values of equal size, read by `item`.
template <typename T>
std::optional<std::vector<T>> items(GgufType type,
                                    std::optional<std::uint64_t> length,
                                    std::span<const std::byte> bytes,
                                    std::optional<T> (*item)(GgufType, const std::byte*)) {
  const std::size_t size = gguf_value_bytes(type);
  if (!length || size == 0) return {};
  std::vector<T> values;
  for (std::size_t at = 0; at < bytes.size(); at += size) {
    const std::optional<T> value = item(type, bytes.data() + at);
    if (!value) return {};
    values.push_back(*value);
  }
  return values;
}

constexpr std::array<std::string_view, 13> type_names = {
    "whole numbers", "whole numbers", "whole numbers", "whole numbers", "whole numbers",
    "whole numbers", "numbers",       "flags",         "texts",         "lists",
    "whole numbers", "whole numbers", "numbers"};

}  // namespace

std::size_t gguf_value_bytes(GgufType type) {
  constexpr std::array<std::size_t, 13> sizes = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  return sizes.at(static_cast<std::size_t>(type));
}

std::optional<std::uint64_t> GgufValue::count() const {
  if (length_) return {};
  return count_at(type_, bytes_.data());
}

std::optional<double> GgufValue::number() const {
  if (length_) return {};
  return number_at(type_, bytes_.data());
}

std::optional<bool> GgufValue::flag() const {
  if (length_) return {};
  return flag_at(type_, bytes_.data());
}

std::optional<std::string_view> GgufValue::text() const {
  if (length_ || type_ != GgufType::text) return {};
  return std::string_view(reinterpret_cast<const char*>(bytes_.data()) + 8, bytes_.size() - 8);
}

std::optional<std::vector<std::uint64_t>> GgufValue::counts() const {
  return items(type_, length_, bytes_, count_at);
}

std::optional<std::vector<double>> GgufValue::numbers() const {
  return items(type_, length_, bytes_, number_at);
}

std::optional<std::vector<bool>> GgufValue::flags() const {
  return items(type_, length_, bytes_, flag_at);
}

std::optional<std::vector<std::string_view>> GgufValue::texts() const {
  if (!length_ || type_ != GgufType::text) return {};
  std::vector<std::string_view> values;
  // The parser has checked every length.
  for (std::size_t at = 0; at < bytes_.size();) {
    const auto size = read<std::uint64_t>(bytes_.data() + at);
    values.emplace_back(reinterpret_cast<const char*>(bytes_.data()) + at + 8, size);
    at += 8 + size;
  }
  return values;
}

std::string GgufValue::described() const {
  if (length_) {
    return "a list of " + std::to_string(*length_) + " " +
           std::string(type_names.at(static_cast<std::size_t>(type_)));
  }
  if (const auto one = text()) return "the text " + shown(*one);
  if (const auto one = count()) return std::to_string(*one);
  if (const auto one = number()) return shortest(*one);
  if (const auto one = flag()) return *one ? "true" : "false";
  return type_ == GgufType::boolean ? "a flag that is neither 0 nor 1" : "a negative number";
}

bool is_gguf(const std::string& path) {
  const Result<MappedFile> file = MappedFile::open(path);
  if (!file || file->bytes().size() < 4) return false;
  return std::memcmp(file->bytes().data(), "GGUF", 4) == 0;
}

Result<GgufFile> open_gguf(const std::string& path) {
  Result<MappedFile> opened = MappedFile::open(path);
  if (!opened) return opened.error();
  GgufFile made{.file = std::make_shared<const MappedFile>(*std::move(opened)), .content = {}};
  Result<Gguf> parsed = parse_gguf(made.file->bytes());
  if (!parsed) return Error{parsed.error().kind, shown(path) + " " + parsed.error().message};
  made.content = *std::move(parsed);
  return made;
}

}  // namespace kv::model
