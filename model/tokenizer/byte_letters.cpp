#include "kvcheck/model/tokenizer/byte_letters.h"

#include <unordered_map>

#include "kvcheck/model/tokenizer/tokenizer.h"

namespace kv::model {
namespace {

std::array<std::string, 256> make_characters() {
  std::array<std::string, 256> characters;
  char32_t next = 256;
  for (char32_t byte = 0; byte < 256; ++byte) {
    const bool visible = (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte != 0xAD);
    const char32_t point = visible ? byte : next++;
    if (point < 0x80) {
      characters[byte] = static_cast<char>(point);
    } else {
      characters[byte] = {static_cast<char>(0xC0 | point >> 6),
                          static_cast<char>(0x80 | (point & 0x3F))};
    }
  }
  return characters;
}

std::unordered_map<std::string, char> make_bytes() {
  std::unordered_map<std::string, char> bytes;
  for (std::size_t byte = 0; byte < 256; ++byte) {
    bytes[byte_characters()[byte]] = static_cast<char>(byte);
  }
  return bytes;
}

}  // namespace

const std::array<std::string, 256>& byte_characters() {
  static const std::array<std::string, 256> characters = make_characters();
  return characters;
}

std::string byte_letters(std::string_view word) {
  std::string letters;
  for (const char byte : word) letters += byte_characters()[static_cast<unsigned char>(byte)];
  return letters;
}

std::string bytes_behind(std::string_view text) {
  static const std::unordered_map<std::string, char> byte_of = make_bytes();
  std::string bytes;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = character_end(text, at);
    const std::string character(text.substr(at, end - at));
    const auto found = byte_of.find(character);
    if (found != byte_of.end()) {
      bytes += found->second;
    } else {
      bytes += character;
    }
    at = end;
  }
  return bytes;
}

}  // namespace kv::model
