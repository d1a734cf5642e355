#include "kvcheck/model/tokenizer/regex/unicode_regex.h"

#include <unicode/uregex.h>
#include <unicode/utext.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <limits>
#include <string_view>

#include "kvcheck/base/text/describe.h"
#include "kvcheck/model/tokenizer/regex/regex_dialect.h"

namespace kv::model {
namespace {

// So that a pattern from a file cannot run for ever. ICU counts steps over all matches of a text,
// in units of 10,000 operations, a fraction of a millisecond each. Published patterns take up to
// 0.7 of them for 1 KiB, and 5 if each character is tried by all alternatives.
constexpr std::int64_t least_steps = 2000;
constexpr std::int64_t bytes_per_step = 32;
constexpr std::int32_t match_stack = 1 << 23;  // bytes

std::int32_t steps_for(std::string_view text) {
  const auto steps = least_steps + static_cast<std::int64_t>(text.size()) / bytes_per_step;
  return static_cast<std::int32_t>(
      std::min<std::int64_t>(steps, std::numeric_limits<std::int32_t>::max()));
}

struct CloseText {
  void operator()(UText* text) const { utext_close(text); }
};

using Text = std::unique_ptr<UText, CloseText>;

Text open_text(std::string_view text) {
  UErrorCode status = U_ZERO_ERROR;
  return Text(
      utext_openUTF8(nullptr, text.data(), static_cast<std::int64_t>(text.size()), &status));
}

// Opening a text for ICU fails for no other reason: any bytes are a text.
Error out_of_memory() {
  return io_error("out of memory");
}

// U_REGEX_MISMATCHED_PAREN as "mismatched paren".
std::string words_of(UErrorCode status) {
  std::string_view name = u_errorName(status);
  for (const std::string_view begin : {"U_REGEX_", "U_"}) {
    if (name.starts_with(begin)) name.remove_prefix(begin.size());
  }
  std::string words(name);
  for (char& c : words) c = c == '_' ? ' ' : static_cast<char>(std::tolower(c));
  return words;
}

}  // namespace

void UnicodeRegex::Close::operator()(URegularExpression* regex) const {
  uregex_close(regex);
}

Result<UnicodeRegex> UnicodeRegex::compile(const std::string& pattern) {
  const Result<std::string> translated = icu_pattern(pattern);
  if (!translated) return translated.error();
  UErrorCode status = U_ZERO_ERROR;
  UParseError where{};
  const Text text = open_text(*translated);
  if (text == nullptr) return out_of_memory();
  UnicodeRegex made;
  made.regex_ = std::shared_ptr<URegularExpression>(
      uregex_openUText(text.get(), UREGEX_MULTILINE | UREGEX_UNIX_LINES, &where, &status), Close());
  if (U_SUCCESS(status) != 0) return made;
  if (status == U_MEMORY_ALLOCATION_ERROR) return out_of_memory();
  return malformed("has a pattern " + shown(pattern) + " that is wrong at character " +
                   std::to_string(where.offset) + ": " + words_of(status));
}

Result<void> UnicodeRegex::for_each_match(
    std::string_view text, const std::function<void(std::size_t, std::size_t)>& found) const {
  UErrorCode status = U_ZERO_ERROR;
  // A clone per call, because matching changes the state of an ICU regex.
  const std::unique_ptr<URegularExpression, Close> regex(uregex_clone(regex_.get(), &status));
  uregex_setTimeLimit(regex.get(), steps_for(text), &status);
  uregex_setStackLimit(regex.get(), match_stack, &status);
  const Text utf8 = open_text(text);
  if (utf8 == nullptr) return out_of_memory();
  uregex_setUText(regex.get(), utf8.get(), &status);
  std::size_t done = 0;
  while (U_SUCCESS(status) != 0 && uregex_findNext(regex.get(), &status) != 0) {
    const auto begin = static_cast<std::size_t>(uregex_start64(regex.get(), 0, &status));
    const auto end = static_cast<std::size_t>(uregex_end64(regex.get(), 0, &status));
    found(begin, end);
    done = end;
  }
  if (status == U_REGEX_TIME_OUT || status == U_REGEX_STACK_OVERFLOW) {
    return malformed("the tokenizer's pattern for splitting text needs too much " +
                     std::string(status == U_REGEX_TIME_OUT ? "time" : "memory") + " behind byte " +
                     std::to_string(done) +
                     " of the text; expected a pattern that does not backtrack so far");
  }
  if (U_FAILURE(status) == 0) return {};
  if (status == U_MEMORY_ALLOCATION_ERROR) return out_of_memory();
  return malformed(std::string("the text could not be split into words: ") + words_of(status));
}

}  // namespace kv::model
