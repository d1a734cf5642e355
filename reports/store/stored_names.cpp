#include "kvcheck/reports/store/stored_names.h"

#include <array>
#include <cstddef>

namespace kv::reports {
namespace {

// The words, indexed by the value of the enumerator.
constexpr std::array<std::string_view, 2> kinds = {"attention", "qkv"};
constexpr std::array<std::string_view, 3> layouts = {"none", "interleaved", "half"};
constexpr std::array<std::string_view, 3> numbers = {"f32", "f16", "bf16"};

static_assert(static_cast<int>(TraceKind::qkv) == 1);
static_assert(static_cast<int>(RopeLayout::half) == 2);
static_assert(static_cast<int>(Number::bf16) == 2);

template <typename T, std::size_t n>
std::optional<T> value_of(const std::array<std::string_view, n>& words, std::string_view word) {
  for (std::size_t i = 0; i < n; ++i) {
    if (words[i] == word) return static_cast<T>(i);
  }
  return std::nullopt;
}

}  // namespace

std::string_view stored_word(TraceKind kind) {
  return kinds[static_cast<std::size_t>(kind)];
}

std::string_view stored_word(RopeLayout layout) {
  return layouts[static_cast<std::size_t>(layout)];
}

std::string_view stored_word(Number number) {
  return numbers[static_cast<std::size_t>(number)];
}

std::optional<TraceKind> trace_kind_of(std::string_view word) {
  return value_of<TraceKind>(kinds, word);
}

std::optional<RopeLayout> rope_layout_of(std::string_view word) {
  return value_of<RopeLayout>(layouts, word);
}

std::optional<Number> number_of(std::string_view word) {
  return value_of<Number>(numbers, word);
}

}  // namespace kv::reports
