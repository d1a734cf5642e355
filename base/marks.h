// Marks: the parts of a stream that was a prompt, a question about it, and an answer.
#pragma once

#include <cstddef>

namespace kv {

// The prompt begins with the stream, the question follows it, and all other tokens are the answer.
struct Marks {
  std::size_t prompt = 0;    // tokens; 0: not known
  std::size_t question = 0;  // tokens; 0: there is none, or it is part of the prompt

  // Whether it is known where the prompt ends.
  [[nodiscard]] bool known() const { return prompt > 0; }

  bool operator==(const Marks&) const = default;
};

}  // namespace kv
