#include "cli/trace_words.h"

#include <algorithm>

#include "base/words.h"

namespace kv::cli {
namespace {

constexpr std::uint64_t largest_number = 65535;

Result<const TraceOption*> find_option(std::string_view name,
                                       std::span<const TraceOption> options) {
  if (name == "-o") name = "--output";
  const auto at = std::ranges::find(options, name, &TraceOption::name);
  if (at != options.end()) return &*at;
  std::vector<std::string_view> names;
  for (const TraceOption& option : options) names.push_back(option.name);
  return usage_error(unknown_word("option", name, names));
}

}  // namespace

Result<TraceWords> parse_trace_words(std::span<const std::string> words,
                                     std::span<const TraceOption> options) {
  TraceWords result;
  bool only_files = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (only_files || word.size() < 2 || word[0] != '-') {
      result.files.push_back(word);
      continue;
    }
    if (word == "--") {
      only_files = true;
      continue;
    }
    const std::size_t equals = word.find('=');
    const auto found = find_option(std::string_view(word).substr(0, equals), options);
    if (!found) return found.error();
    const TraceOption& option = *found.value();
    const std::string name(option.name);
    std::string value;
    if (equals != std::string::npos) {
      if (!option.takes_value) return usage_error(name + " takes no value");
      value = word.substr(equals + 1);
    } else if (option.takes_value) {
      if (i + 1 == words.size()) return usage_error(name + " needs a value after it");
      value = words[++i];
    }
    if (!result.options.emplace(name, value).second) {
      return usage_error(name + " is given twice; expected it once");
    }
  }
  return result;
}

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
      return usage_error(std::string(what) + " '" + std::string(text.substr(0, 60)) +
                         "' does not increase at '" + std::string(piece) +
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
