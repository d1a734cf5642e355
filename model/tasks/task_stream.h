// An item of a task as the tokens that a model reads.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/base/marks.h"
#include "kvcheck/model/tasks/task_item.h"
#include "kvcheck/model/tokenizer/tokenizer.h"

namespace kv::model {

struct TaskStream {
  std::vector<TokenId> prompt{};  // the context, then the question
  Marks marks{};                  // the context is the stream's prompt, then comes its question
  std::vector<TokenId> answer{};  // the first of the right ones
  std::vector<std::vector<TokenId>> choices{};
  std::vector<bool> right{};  // by choice: whether it is one of the right answers
  std::size_t longest = 0;    // tokens of the longest right answer
};

// The tokens are those of context, question and answer as one text, so that a tokenizer sees the
// blank before an answer. Where a token would stand across the end of a part, the part ends before
// it. `begin` is put before the context. Errors name the item: those of encode(), a question
// that leaves no token of its own to the answer, and choices of the same tokens.
Result<TaskStream> stream_of(const TaskItem& item,
                             const Tokenizer& tokenizer,
                             std::optional<TokenId> begin);

}  // namespace kv::model
