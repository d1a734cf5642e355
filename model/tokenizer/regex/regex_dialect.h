// Patterns of tokenizer.json are Oniguruma's, in its dialect for Ruby; this makes ICU's of them.
#pragma once

#include <string>
#include <string_view>

#include "kvcheck/base/error.h"

namespace kv::model {

// The pattern for ICU with the flags for lines (UREGEX_MULTILINE and UREGEX_UNIX_LINES), under
// which ^, $ and . mean the same. Errors, which begin with a verb: what ICU reads otherwise or not
// at all, such as \h, \b, (?m) and [[:punct:]].
//
// Source: doc/RE of Oniguruma, and the user guide of ICU, "Regular Expressions".
Result<std::string> icu_pattern(std::string_view pattern);

}  // namespace kv::model
