#include "kvcheck/reports/explorer/base64.h"

#include <cstddef>
#include <cstdint>

namespace kv::reports {

std::string base64(std::string_view bytes) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t j = i; j < i + 3; ++j) {
      group = group << 8U | (j < bytes.size() ? static_cast<unsigned char>(bytes[j]) : 0U);
    }
    for (std::size_t digit = 0; digit < 4; ++digit) {
      // n bytes need n + 1 digits; the rest of the last group is padding.
      const bool padding = digit > bytes.size() - i;
      out += padding ? '=' : digits[group >> (18 - 6 * digit) & 63U];
    }
  }
  return out;
}

}  // namespace kv::reports
