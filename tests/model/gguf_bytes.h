// The bytes of small GGUF files, right or wrong in one place.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kv::test {

// Appends numbers and texts as GGUF files hold them.
class GgufBytes {
 public:
  template <typename T>
  GgufBytes& put(T number) {
    bytes_.append(reinterpret_cast<const char*>(&number), sizeof number);
    return *this;
  }

  GgufBytes& text(std::string_view text) {
    put<std::uint64_t>(text.size());
    bytes_.append(text);
    return *this;
  }

  GgufBytes& header(std::uint64_t tensors, std::uint64_t entries, std::uint32_t version = 3) {
    bytes_ += "GGUF";
    return put(version).put(tensors).put(entries);
  }

  GgufBytes& entry(std::string_view key, std::uint32_t number) {
    return text(key).put<std::uint32_t>(4).put(number);
  }

  // A vector of F32.
  GgufBytes& tensor(std::string_view name, std::uint64_t size, std::uint64_t offset) {
    return text(name).put<std::uint32_t>(1).put(size).put<std::uint32_t>(0).put(offset);
  }

  GgufBytes& pad(std::size_t align = 32) {
    bytes_.resize((bytes_.size() + align - 1) / align * align);
    return *this;
  }

  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

}  // namespace kv::test
