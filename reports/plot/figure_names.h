// The names and colours that a user's file gives to specs in figures.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/reports/numbers/lines.h"

namespace kv::reports {

struct FigureName {
  std::string words;     // which spec is meant: a policy, a preset or a spec
  std::string name;      // empty: the spec's own label
  std::string colour;    // "#0072b2"; empty: the policy's own
  std::size_t line = 0;  // of the file, from 1
};

// Reads lines of the form "WORDS = NAME #rrggbb", of which the name or the colour may be missing.
// Empty lines and lines that begin with '#' are left out. `path` is the file's, for errors
// (malformed): a line of another form, a name that cannot be printed, words or a name in two lines,
// more than 1,000 names.
Result<std::vector<FigureName>> parse_figure_names(std::string_view text, std::string_view path);

// What a figure calls a spec; null if the file says nothing of it.
using Renaming = std::function<const FigureName*(const Spec&)>;

// Gives the lines their names and colours. A line that has by itself the colour that another one is
// given gets one that no line has, if there is one. `spec_of` returns the spec at an index of
// Line::specs. Requires what `renaming` returns to outlive the lines.
void rename(std::vector<Line>& lines,
            const Renaming& renaming,
            const std::function<const Spec&(std::size_t)>& spec_of);

}  // namespace kv::reports
