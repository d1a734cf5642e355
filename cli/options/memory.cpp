#include "kvcheck/cli/options/memory.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>

#include "kvcheck/base/text/text.h"
#include "kvcheck/base/threads/machine.h"

namespace kv::cli {
namespace {

constexpr std::string_view units = "KMGT";

// "500M", "4g", "1048576".
Result<std::uint64_t> parse_size(std::string_view text) {
  constexpr int bits = 10;
  int shift = 0;
  if (!text.empty()) {
    const char last = static_cast<char>(text.back() & ~0x20);  // in upper case
    const std::size_t unit = units.find(last);
    if (unit != std::string_view::npos) {
      shift = bits * static_cast<int>(unit + 1);
      text.remove_suffix(1);
    }
  }
  const auto count = parse_count(text, "--memory", 1, ~std::uint64_t{0} >> shift);
  if (!count) return usage_error(count.error().message + ", then nothing, K, M, G or T");
  return *count << shift;
}

}  // namespace

std::string size_text(std::uint64_t bytes) {
  auto value = static_cast<double>(bytes);
  if (bytes < 1024) return std::to_string(bytes) + " bytes";
  std::size_t unit = 0;
  for (value /= 1024; value >= 1000 && unit + 1 < units.size(); ++unit) value /= 1024;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.*f %ciB", value < 10 ? 1 : 0, value, units[unit]);
  return text.data();
}

Result<std::uint64_t> memory_given(const Arguments& arguments, std::uint64_t otherwise) {
  if (!arguments.given("memory")) return otherwise;
  return parse_size(arguments.value("memory"));
}

Result<void> check_memory(const Arguments& arguments, std::span<const MemoryNeed> needs) {
  if (needs.empty()) return {};
  const bool given = arguments.given("memory");
  const auto size = memory_given(arguments, machine_memory());
  if (!size) return size.error();
  const std::uint64_t limit = *size;
  std::uint64_t all = 0;
  for (const MemoryNeed& need : needs) {
    if (__builtin_add_overflow(all, need.bytes, &all)) all = ~std::uint64_t{0};
  }
  if (all <= limit) return {};
  const MemoryNeed& most = *std::ranges::max_element(needs, {}, &MemoryNeed::bytes);
  return usage_error(
      "this may need " + size_text(all) + " of memory, " + size_text(most.bytes) + " of it for " +
      most.what + "; expected at most " + size_text(limit) +
      (given ? ", as --memory says" : ", which is free here (--memory SIZE sets another limit)"));
}

}  // namespace kv::cli
