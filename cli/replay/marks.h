// --prompt and --question: where the prompt and the question of a stream end.
#pragma once

#include "kvcheck/base/error.h"
#include "kvcheck/base/marks.h"
#include "kvcheck/cli/options/options.h"

namespace kv::cli {

inline constexpr Option prompt_option = {
    .name = "prompt",
    .value = "N",
    .help =
        "the first N tokens of every stream are its prompt, at whose end specs with "
        "compress=prompt trim for the first time"};
inline constexpr Option question_option = {
    .name = "question",
    .value = "N",
    .help =
        "the N tokens after the prompt are its question, at whose end specs with "
        "compress=question trim [0]"};

// From --prompt and --question; not known without --prompt.
Result<Marks> marks_of(const Arguments& arguments);

}  // namespace kv::cli
