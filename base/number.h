// The element types of stored numbers.
#pragma once

#include <string_view>

namespace kv {

enum class Number { f32, f16, bf16 };

// "f32", "f16" or "bf16".
constexpr std::string_view number_name(Number number) {
  switch (number) {
    case Number::f32:
      return "f32";
    case Number::f16:
      return "f16";
    case Number::bf16:
      return "bf16";
  }
  return "";
}

}  // namespace kv
