// Asks a model the items of a task under a policy.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "kvcheck/base/error.h"
#include "kvcheck/model/decoder/decoder.h"
#include "kvcheck/model/run/token_sampler.h"
#include "kvcheck/model/tasks/task_item.h"
#include "kvcheck/model/tasks/task_stream.h"
#include "kvcheck/model/tokenizer/tokenizer.h"
#include "kvcheck/sim/replay/closed_loop.h"

namespace kv::model {

inline constexpr std::size_t more_than_the_answer = 8;  // tokens

// A model that answers. All it refers to outlives it.
struct Answering {
  const LanguageModel& model;
  const Tokenizer& tokenizer;
  Spec spec;                 // not resolved: each item has a context of its own
  DecoderOptions options{};  // marks and length are each item's
  // Tokens to generate at most; 0: more_than_the_answer more than the longest right answer has, if
  // the model's context has room for them.
  std::size_t longest_answer = 0;
};

struct Answered {
  TaskAnswer answer;
  std::size_t kv_bytes = 0;  // of keys and values at their peak
};

// How many tokens the item's stream may have in all.
std::size_t tokens_of(const TaskStream& stream, const Answering& how);

// The spec with the sizes that it has on the item's stream. Errors: it has none there.
Result<Spec> spec_for(const TaskItem& item, const TaskStream& stream, const Answering& how);

// How many decoders answer_task holds at one time: the one that has read the prompt, and a copy.
inline constexpr std::size_t decoders_of_answer = 2;

// Reads context and question from an empty cache in chunks of the spec's size, then generates the
// likeliest tokens one by one until a stop, the model's end token or the longest answer. The losses
// are those of the right answer, and of each choice, read token by token after the same prompt,
// each in a copy of the cache that has read the prompt and nothing else.
// Errors: the spec has no sizes here; the decoder's; logits that are no finite numbers.
// Cost: a pass over the prompt; a copy of the cache for each text that leaves the generated one.
Result<Answered> answer_task(const TaskItem& item, const TaskStream& stream, const Answering& how);

}  // namespace kv::model
