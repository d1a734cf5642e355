#include "kvcheck/base/text/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "kvcheck/base/text/nearest_words.h"

namespace kv {
namespace {

// Optimal string alignment distance: edits with swaps of neighbours, each piece edited once.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = i + j;
        continue;
      }
      const std::size_t replaced = cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
      }
    }
  }
  return cost[a.size()][b.size()];
}

std::string lower(std::string_view word) {
  std::string out(word);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

// Whether `shorter` is `word` with letters left out. The first letter must be the same.
bool is_shortened(std::string_view shorter, std::string_view word) {
  if (shorter.empty() || word.empty() || shorter.front() != word.front()) return false;
  std::size_t found = 0;
  for (const char c : word) found += found < shorter.size() && shorter[found] == c ? 1U : 0U;
  return found == shorter.size();
}

std::string quoted(std::string_view word) {
  // The word may be long or contain control characters; the message must be one short line.
  std::string out = "'";
  for (const char c : word.substr(0, 60)) {
    out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  }
  return out + (word.size() > 60 ? "...'" : "'");
}

}  // namespace

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  for (std::size_t begin = 0;;) {
    const std::size_t end = text.find(separator, begin);
    pieces.push_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos) return pieces;
    begin = end + 1;
  }
}

std::string join(std::span<const std::string> words, std::string_view separator) {
  std::string out;
  for (const std::string& word : words) {
    if (&word != words.data()) out += separator;
    out += word;
  }
  return out;
}

std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates) {
  const std::string requested = lower(word);
  if (word.empty() || word.size() > 100) return {};
  std::string_view best;
  // At most a third of the letters may differ, or one in a short word.
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string_view candidate : candidates) {
    const std::string small = lower(candidate);
    const bool shortened = requested.size() >= 3 && is_shortened(requested, small);
    const std::size_t edits = edit_distance(requested, small);
    const std::size_t distance = shortened ? std::min<std::size_t>(edits, 1) : edits;
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

namespace {

// The candidate whose name is nearest; words may have the form name:value.
std::string_view nearest_by_name(std::string_view word,
                                 std::span<const std::string_view> candidates) {
  std::vector<std::string_view> names;
  for (const std::string_view candidate : candidates) {
    names.push_back(candidate.substr(0, candidate.find(':')));
  }
  const std::string_view name = nearest(word.substr(0, word.find(':')), names);
  if (name.empty()) return {};
  return candidates[static_cast<std::size_t>(std::ranges::find(names, name) - names.begin())];
}

}  // namespace

std::string unknown_word(std::string_view what,
                         std::string_view word,
                         std::span<const std::string_view> candidates) {
  const std::string_view meant = nearest(word, candidates);
  return unknown_word(what, word, candidates,
                      meant.empty() ? nearest_by_name(word, candidates) : meant);
}

std::string unknown_word(std::string_view what,
                         std::string_view word,
                         std::span<const std::string_view> candidates,
                         std::string_view meant) {
  std::string out = "unknown " + std::string(what) + " " + quoted(word);
  if (!meant.empty()) return out + "; did you mean " + quoted(meant) + "?";
  if (candidates.empty()) return out;
  out += " (there " + std::string(candidates.size() == 1 ? "is " : "are ");
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    out += (i == 0 ? "" : ", ") + std::string(candidates[i]);
  }
  return out + ")";
}

namespace {

// The distance of a candidate from the word: that of its nearest part.
std::size_t distance_of(const std::string& requested, const std::string& candidate) {
  std::size_t least = edit_distance(requested, candidate);
  if (candidate.find(requested) != std::string::npos) return std::min<std::size_t>(least, 1);
  for (std::size_t begin = 0; begin < candidate.size();) {
    const std::size_t end = std::min(candidate.find_first_of(".-", begin), candidate.size());
    // A part that matches counts one edit more than a whole candidate.
    least = std::min(least, 1 + edit_distance(requested, candidate.substr(begin, end - begin)));
    begin = end + 1;
  }
  return least;
}

}  // namespace

std::vector<std::string_view> nearest_words(std::string_view word,
                                            std::span<const std::string_view> candidates,
                                            std::size_t count) {
  std::string requested = lower(word.substr(0, 100));
  while (!requested.empty() && (requested.back() == '*' || requested.back() == '.'))
    requested.pop_back();
  std::vector<std::pair<std::size_t, std::string_view>> all;
  for (const std::string_view candidate : candidates) {
    all.emplace_back(distance_of(requested, lower(candidate)), candidate);
  }
  std::ranges::stable_sort(all, {}, &std::pair<std::size_t, std::string_view>::first);
  std::vector<std::string_view> words;
  for (std::size_t i = 0; i < std::min(count, all.size()); ++i) words.push_back(all[i].second);
  return words;
}

std::string unknown_among_many(std::string_view what,
                               std::string_view word,
                               std::span<const std::string_view> candidates,
                               std::string_view where_all_are) {
  if (const auto meant = nearest(word, candidates); !meant.empty()) {
    return unknown_word(what, word, candidates, meant);
  }
  std::string out = unknown_word(what, word, {}) + "; nearest are ";
  const auto words = nearest_words(word, candidates, 3);
  for (std::size_t i = 0; i < words.size(); ++i) {
    out += (i == 0 ? "" : ", ") + quoted(words[i]);
  }
  return out + "; " + std::string(where_all_are);
}

Result<std::uint64_t> parse_count(std::string_view text,
                                  std::string_view what,
                                  std::uint64_t minimum,
                                  std::uint64_t maximum) {
  std::uint64_t value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status == std::errc() && end == text.data() + text.size() && value >= minimum &&
      value <= maximum) {
    return value;
  }
  return usage_error(std::string(what) + " is " + quoted(text) + "; expected a whole number from " +
                     std::to_string(minimum) + " to " + std::to_string(maximum));
}

Result<double> parse_real(std::string_view text,
                          std::string_view what,
                          double minimum,
                          double maximum) {
  double value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status == std::errc() && end == text.data() + text.size() && std::isfinite(value) &&
      value >= minimum && value <= maximum) {
    return value;
  }
  const bool any_positive = minimum == std::numeric_limits<double>::min() &&
                            maximum == std::numeric_limits<double>::max();
  const std::string expected =
      any_positive ? "a positive number"
                   : "a number from " + shortest(minimum) + " to " + shortest(maximum);
  return usage_error(std::string(what) + " is " + quoted(text) + "; expected " + expected);
}

std::string shortest(double value) {
  if (!std::isfinite(value)) return "null";
  std::array<char, 32> text{};
  const auto [end, status] = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), end};
}

std::string hexadecimal(std::uint64_t value) {
  std::string out(16, '0');
  for (std::size_t i = 16; i-- > 0; value >>= 4) out[i] = "0123456789abcdef"[value & 15];
  return out;
}

}  // namespace kv
