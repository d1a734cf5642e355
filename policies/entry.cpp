#include "kvcheck/policies/entry.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "kvcheck/base/check.h"
#include "kvcheck/base/text/text.h"

namespace kv {
namespace {

// "did you mean '3' or '5'?": the closest numbers below and above, if the value is a number and all
// legal words are numbers; empty otherwise. Spelling distance, used for words, misleads for
// numbers.
std::string nearest_numbers(const Parameter& parameter, std::string_view value) {
  constexpr auto most = std::numeric_limits<std::uint32_t>::max();
  const auto requested = parse_count(value, parameter.name, 0, most);
  if (!requested) return {};
  std::string below;
  std::string above;
  for (const std::string_view choice : parameter.choices) {
    const auto number = parse_count(choice, parameter.name, 0, most);
    if (!number) return {};
    const std::string word = "'" + std::string(choice) + "'";
    if (*number < *requested) below = word;
    if (*number > *requested && above.empty()) above = word;
  }
  const std::string both = below.empty() || above.empty() ? "" : " or ";
  return "unknown " + std::string(parameter.name) + " '" + std::string(value) + "'; did you mean " +
         below + both + above + "?";
}

}  // namespace

Result<std::string> legal_value(const Parameter& parameter, std::string_view value) {
  const Parameter::Range& range = parameter.range;
  if (range.of == Parameter::Range::Of::names) {
    if (std::ranges::find(parameter.choices, value) != parameter.choices.end()) {
      return std::string(value);
    }
    std::string numbers = nearest_numbers(parameter, value);
    if (!numbers.empty()) return usage_error(std::move(numbers));
    return usage_error(unknown_word(parameter.name, value, parameter.choices));
  }
  if (range.of == Parameter::Range::Of::counts) {
    const auto count = parse_count(value, parameter.name, static_cast<std::uint64_t>(range.least),
                                   static_cast<std::uint64_t>(range.most));
    if (!count) return count.error();
    return std::to_string(*count);
  }
  const auto number = parse_real(value, parameter.name, range.least, range.most);
  if (!number) return number.error();
  return shortest(*number == 0 ? 0.0 : *number);  // -0 would be a second text of the same value
}

Options::Options(std::span<const Parameter> parameters) : parameters_(parameters) {
  for (const Parameter& parameter : parameters) {
    values_.emplace(parameter.name, parameter.default_value);
  }
}

void Options::set(std::string_view name, std::string_view value) {
  const auto parameter = std::ranges::find(parameters_, name, &Parameter::name);
  KV_CHECK(parameter != parameters_.end());
  const Result<std::string> legal = legal_value(*parameter, value);
  KV_CHECK(legal.has_value() && *legal == value);
  values_.find(name)->second = value;
}

const std::string& Options::at(std::string_view name) const {
  const auto found = values_.find(name);
  KV_CHECK(found != values_.end());
  return found->second;
}

std::size_t Options::count(std::string_view name) const {
  const std::string& text = at(name);
  std::size_t value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  KV_CHECK(status == std::errc() && end == text.data() + text.size());
  return value;
}

double Options::real(std::string_view name) const {
  const std::string& text = at(name);
  double value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  KV_CHECK(status == std::errc() && end == text.data() + text.size());
  return value;
}

}  // namespace kv
