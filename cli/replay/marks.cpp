#include "kvcheck/cli/replay/marks.h"

#include <limits>

namespace kv::cli {

Result<Marks> marks_of(const Arguments& arguments) {
  constexpr std::uint64_t most = std::numeric_limits<std::int32_t>::max();
  const auto prompt = arguments.count("prompt", 1, most);
  if (!prompt) return prompt.error();
  const auto question = arguments.count("question", 0, most);
  if (!question) return question.error();
  if (*question && !*prompt) {
    return usage_error("--question is given without --prompt, which it follows; expected both");
  }
  return Marks{.prompt = prompt->value_or(0), .question = question->value_or(0)};
}

}  // namespace kv::cli
