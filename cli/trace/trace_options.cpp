#include "kvcheck/cli/trace/trace_options.h"

#include "kvcheck/base/text/printable.h"
#include "kvcheck/base/text/text.h"

namespace kv::cli {
namespace {

constexpr std::uint64_t largest_number = 65535;

}  // namespace

Result<std::vector<std::size_t>> parse_numbers(std::string_view text, std::string_view what) {
  std::vector<std::size_t> numbers;
  for (const std::string_view piece : split(text, ',')) {
    const std::size_t dash = piece.find('-');
    const auto first = parse_count(piece.substr(0, dash), what, 0, largest_number);
    if (!first) return first.error();
    const auto last = dash == std::string_view::npos
                          ? first
                          : parse_count(piece.substr(dash + 1), what, 0, largest_number);
    if (!last) return last.error();
    const bool increases = numbers.empty() || numbers.back() < first.value();
    if (!increases || last.value() < first.value()) {
      return usage_error(std::string(what) + " '" + printable_line(text.substr(0, 60)) +
                         "' does not increase at '" + printable_line(piece) +
                         "'; expected a list such as 0,3-5");
    }
    for (std::size_t number = first.value(); number <= last.value(); ++number) {
      numbers.push_back(number);
    }
  }
  return numbers;
}

std::string numbers_text(std::span<const std::size_t> numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    text += (text.empty() ? "" : ",") + std::to_string(numbers[i]);
    if (end - i > 1) text += "-" + std::to_string(numbers[end - 1]);
    i = end;
  }
  return text;
}

}  // namespace kv::cli
