#include "kvcheck/base/token_class.h"

#include <algorithm>
#include <array>
#include <string>

namespace kv {
namespace {

// Sorted, for a binary search.
constexpr std::array<std::string_view, 124> function_words = {
    "a",      "about",   "above",   "across", "after",   "against", "all",     "along",  "although",
    "am",     "among",   "an",      "and",    "any",     "are",     "around",  "as",     "at",
    "be",     "because", "been",    "before", "behind",  "being",   "below",   "beside", "between",
    "both",   "but",     "by",      "can",    "could",   "did",     "do",      "does",   "down",
    "during", "each",    "either",  "every",  "few",     "for",     "from",    "had",    "has",
    "have",   "he",      "her",     "hers",   "him",     "his",     "how",     "i",      "if",
    "in",     "into",    "is",      "it",     "its",     "many",    "may",     "me",     "might",
    "mine",   "more",    "most",    "much",   "must",    "my",      "neither", "no",     "nor",
    "not",    "of",      "off",     "on",     "or",      "our",     "ours",    "out",    "over",
    "shall",  "she",     "should",  "since",  "so",      "some",    "such",    "than",   "that",
    "the",    "their",   "theirs",  "them",   "then",    "there",   "these",   "they",   "this",
    "those",  "though",  "through", "to",     "under",   "until",   "up",      "us",     "was",
    "we",     "were",    "what",    "when",   "where",   "whether", "which",   "while",  "who",
    "whom",   "whose",   "will",    "with",   "without", "would",   "you"};
static_assert(std::ranges::is_sorted(function_words));

constexpr std::string_view blanks = " \t\r\n\v\f";

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         static_cast<unsigned char>(c) >= 0x80;
}

}  // namespace

TokenClass token_class_of(std::string_view text) {
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) {
    const bool ends_a_line = text.find('\n') != std::string_view::npos;
    return ends_a_line ? TokenClass::separator : TokenClass::function;
  }
  const std::string_view inner = text.substr(first, text.find_last_not_of(blanks) - first + 1);
  if (std::ranges::none_of(inner, is_letter_or_digit)) return TokenClass::separator;
  std::string lower(inner);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  const bool known = std::ranges::binary_search(function_words, std::string_view(lower));
  return known ? TokenClass::function : TokenClass::content;
}

}  // namespace kv
