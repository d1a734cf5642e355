#include "kvcheck/reports/plot/figure_names.h"

#include <algorithm>

#include "kvcheck/base/text/printable.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/numbers/escape.h"

namespace kv::reports {
namespace {

constexpr std::size_t most_lines = 1000;
constexpr std::string_view blanks = " \t\r";

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

bool is_colour(std::string_view word) {
  constexpr std::string_view digits = "0123456789abcdefABCDEF";
  return word.size() == 7 && word[0] == '#' &&
         word.find_first_not_of(digits, 1) == std::string_view::npos;
}

// The parts of one line; no words if it has another form. The sign between them has blanks around
// it, so that a spec's own "=" do not count.
FigureName parts_of(std::string_view line) {
  const std::size_t sign = line.find(" = ");
  if (sign == std::string_view::npos) return {};
  FigureName parts{.words = std::string(trimmed(line.substr(0, sign))), .name = {}, .colour = {}};
  std::string_view rest = trimmed(line.substr(sign + 3));
  const std::size_t last = rest.find_last_of(blanks) + 1;  // 0 if there is one word
  if (is_colour(rest.substr(last))) {
    parts.colour = rest.substr(last);
    rest = trimmed(rest.substr(0, last));
  }
  parts.name = rest;
  return parts;
}

Error wrong(std::string_view path, std::size_t line, const std::string& what) {
  return {Error::Kind::malformed,
          std::string(path) + " line " + std::to_string(line) + ": " + what};
}

}  // namespace

Result<std::vector<FigureName>> parse_figure_names(std::string_view text, std::string_view path) {
  std::vector<FigureName> names;
  std::size_t number = 0;
  for (const std::string_view whole : split(text, '\n')) {
    const std::string_view line = trimmed(whole);
    ++number;
    if (line.empty() || line[0] == '#') continue;
    FigureName one = parts_of(line);
    one.line = number;
    if (one.words.empty() || (one.name.empty() && one.colour.empty())) {
      return wrong(path, number,
                   "expected 'POLICY = NAME #rrggbb', with blanks around '=', not '" +
                       shortened(std::string(line), 60) + "'");
    }
    const std::string last = one.name.substr(one.name.find_last_of(blanks) + 1);
    if (last.starts_with('#')) {
      return wrong(path, number,
                   "'" + shortened(last, 60) +
                       "' is no colour; expected '#' and six hexadecimal digits, as "
                       "in #0072b2");
    }
    if (printable_line(one.name) != one.name) {
      return wrong(path, number, "expected a name of printable characters in UTF-8");
    }
    for (const FigureName& other : names) {
      const bool same_words = other.words == one.words;
      if (!same_words && (one.name.empty() || other.name != one.name)) continue;
      return wrong(path, number,
                   "'" + shortened(same_words ? one.words : one.name, 60) + "' is also in line " +
                       std::to_string(other.line));
    }
    if (names.size() == most_lines) {
      return wrong(path, number, "expected at most " + std::to_string(most_lines) + " names");
    }
    names.push_back(std::move(one));
  }
  return names;
}

void rename(std::vector<Line>& lines,
            const Renaming& renaming,
            const std::function<const Spec&(std::size_t)>& spec_of) {
  if (!renaming) return;
  std::vector<bool> given(lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    Line& line = lines[i];
    const FigureName* const found = renaming(spec_of(line.specs.front()));
    if (found == nullptr) continue;
    if (!found->name.empty()) line.label = found->name;
    if (found->colour.empty()) continue;
    line.look.colour = found->colour;
    line.look.quiet = false;  // a reader looks for the colour in the legend
    given[i] = true;
  }
  recolour_others(lines, given);
}

}  // namespace kv::reports
