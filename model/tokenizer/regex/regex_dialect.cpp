#include "kvcheck/model/tokenizer/regex/regex_dialect.h"

#include <algorithm>
#include <cctype>

#include "kvcheck/base/text/describe.h"

namespace kv::model {
namespace {

// Letters behind a backslash that mean the same to both.
constexpr std::string_view same_escapes = "dDsSpPnrtfaexuAzZ";
// ICU's has two joiners besides.
constexpr std::string_view word = R"([\p{Alphabetic}\p{M}\p{Nd}\p{Pc}])";
constexpr std::string_view no_word = R"([^\p{Alphabetic}\p{M}\p{Nd}\p{Pc}])";

class Translation {
 public:
  explicit Translation(std::string_view pattern) : pattern_(pattern) {}

  Result<std::string> run() {
    while (at_ < pattern_.size()) {
      Result<void> done;
      if (pattern_[at_] == '\\') {
        done = escape();
      } else if (rest().starts_with("(?") && sets_ == 0) {
        done = group();
      } else {
        done = plain();
      }
      if (!done) return done.error();
    }
    return std::move(out_);
  }

 private:
  [[nodiscard]] std::string_view rest() const { return pattern_.substr(at_); }

  void copy(std::size_t count) {
    out_ += pattern_.substr(at_, count);
    at_ += count;
  }

  [[nodiscard]] Error other(std::string_view what) const {
    return Error{Error::Kind::unsupported,
                 "has a pattern " + shown(pattern_) + " with '" + std::string(what) + "' at byte " +
                     std::to_string(at_) +
                     ", which is not implemented; expected a pattern without it"};
  }

  Result<void> escape() {
    if (at_ + 1 == pattern_.size()) {
      copy(1);
      return {};
    }
    const char letter = pattern_[at_ + 1];
    if (letter == 'w' || letter == 'W') {
      out_ += letter == 'w' ? word : no_word;
      at_ += 2;
      return {};
    }
    const bool alphanumeric = std::isalnum(static_cast<unsigned char>(letter)) != 0;
    if (alphanumeric && same_escapes.find(letter) == std::string_view::npos) {
      return other(pattern_.substr(at_, 2));
    }
    copy(2);
    // The braces of \p{L} are no quantifier.
    if (rest().starts_with('{') && (letter == 'p' || letter == 'P' || letter == 'x')) {
      copy(std::min(rest().find('}'), rest().size() - 1) + 1);
    }
    return {};
  }

  // Groups without flags are the same, and of the flags only i is. Without a colon, Oniguruma's
  // reach over the alternatives that follow and ICU's do not, unless they begin the pattern.
  Result<void> group() {
    const std::size_t end =
        std::min(pattern_.find_first_not_of("i-", at_ + 2), pattern_.size() - 1);
    const bool other_flag = std::isalpha(static_cast<unsigned char>(pattern_[end])) != 0;
    const bool reaches_on = pattern_[end] == ')' && at_ > 0;
    if (other_flag || reaches_on) return other(pattern_.substr(at_, end + 1 - at_));
    copy(2);
    return {};
  }

  Result<void> plain() {
    for (const std::string_view two : {"[:", "&&", "--"}) {
      if (sets_ > 0 && rest().starts_with(two)) return other(two);
    }
    // A second quantifier to Oniguruma, and to ICU one that gives nothing back.
    if (sets_ == 0 && rest().starts_with("}+")) return other("}+");
    if (pattern_[at_] == '[') ++sets_;
    if (pattern_[at_] == ']' && sets_ > 0) --sets_;
    copy(1);
    return {};
  }

  std::string_view pattern_;
  std::size_t at_ = 0;
  std::size_t sets_ = 0;  // how many brackets are open
  std::string out_;
};

}  // namespace

Result<std::string> icu_pattern(std::string_view pattern) {
  return Translation(pattern).run();
}

}  // namespace kv::model
