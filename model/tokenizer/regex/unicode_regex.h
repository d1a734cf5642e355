// A regular expression over UTF-8 text, with ICU's engine and limits of steps and memory.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "kvcheck/base/error.h"

struct URegularExpression;

namespace kv::model {

class UnicodeRegex {
 public:
  // The pattern is one of Oniguruma's (regex_dialect.h). The error begins with a verb, and names
  // the character at which the pattern is wrong.
  static Result<UnicodeRegex> compile(const std::string& pattern);

  // Calls found(begin, end) for each match in order, as offsets of bytes. Errors: a match that
  // needs too many steps or too much memory; ICU counts steps of its engine, not seconds, so the
  // same text fails on every machine. Threads may share a regex.
  [[nodiscard]] Result<void> for_each_match(
      std::string_view text,
      const std::function<void(std::size_t begin, std::size_t end)>& found) const;

 private:
  struct Close {
    void operator()(URegularExpression* regex) const;
  };

  std::shared_ptr<URegularExpression> regex_;
};

}  // namespace kv::model
