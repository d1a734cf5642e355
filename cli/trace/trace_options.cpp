#include "kvcheck/cli/trace/trace_options.h"

#include "kvcheck/base/file.h"
#include "kvcheck/base/text/printable.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/traces/files/words.h"

namespace kv::cli {
namespace {

constexpr std::uint64_t largest_number = 65535;

// "256" or "0-255": the number of first tokens to keep.
Result<std::size_t> first_tokens(std::string_view text) {
  constexpr std::uint64_t most = 0x7fffffff;
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos || dash == 0) return parse_count(text, "--tokens", 1, most);
  const auto first = parse_count(text.substr(0, dash), "--tokens", 0, most);
  const auto last = parse_count(text.substr(dash + 1), "--tokens", 0, most - 1);
  if (!first || !last) return first ? last.error() : first.error();
  if (first.value() == 0) return last.value() + 1;
  return usage_error("--tokens begins at " + std::to_string(first.value()) +
                     "; expected 0, because what a model computes at a token depends on all "
                     "tokens before it");
}

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

Result<Selection> selection_from(const Arguments& arguments) {
  Selection selection;
  if (arguments.given("layers")) {
    const auto layers = parse_numbers(arguments.value("layers"), "--layers");
    if (!layers) return layers.error();
    selection.layers = layers.value();
  }
  if (arguments.given("heads")) {
    const auto heads = parse_numbers(arguments.value("heads"), "--heads");
    if (!heads) return heads.error();
    selection.heads = heads.value();
  }
  if (arguments.given("tokens")) {
    const auto tokens = first_tokens(arguments.value("tokens"));
    if (!tokens) return tokens.error();
    selection.tokens = tokens.value();
  }
  if (arguments.given("queries")) {
    auto queries = parse_query_design(arguments.value("queries"));
    if (!queries) return usage_error("--queries: " + queries.error().message);
    selection.queries = *std::move(queries);
  }
  const auto seed = arguments.count("seed", 0, ~std::uint64_t{0});
  if (!seed) return seed.error();
  selection.query_seed = seed->value();
  return selection;
}

Result<Transcript> words_of(const std::string& path, std::size_t tokens) {
  const auto file = MappedFile::open(path);
  if (!file) return file.error();
  const auto bytes = file->bytes();
  auto words =
      parse_token_words({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, tokens);
  if (!words) return Error{words.error().kind, "'" + path + "': " + words.error().message};
  return words;
}

}  // namespace kv::cli
