// Makes items of tasks whose answers are known because they were planted.
//
// Kinds in English follow the synthetic benchmarks of long contexts: a pass key in filler
// (Mohtashami and Jaggi, arXiv:2305.16300, section 4.2), one needle, several, and one among those
// of other keys, variables and frequent words (RULER: Hsieh et al., arXiv:2404.06654, section 3),
// and a lookup among pairs of random words (Liu et al., arXiv:2307.03172, section 3). Differs:
// texts and words are our own, every kind asks for one answer, and the length is given in tokens of
// any tokenizer, or in words. Kinds whose names begin with "story" are in the language of the
// bundled model (model/training/text.py), which can answer them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/model/tasks/task_item.h"

namespace kv::model {

struct TaskKind {
  std::string_view name;
  std::string_view help;    // what is planted and asked
  bool has_others = false;  // TaskRequest::others says how much stands besides
  bool has_depth = true;    // what is asked for stands at TaskRequest::depth
};

std::span<const TaskKind> task_kinds();

// What is planted where. All items of one request that differ in `index` alone are drawn
// independently.
struct TaskRequest {
  std::string kind;        // one of task_kinds()
  std::size_t length = 0;  // of the context at least, up to its next whole sentence
  double depth = 0.5;      // where what is asked for stands: 0 at the begin, 1 at the end
  std::size_t others = 4;  // needles or steps besides the one asked for, where the kind has them
  std::uint64_t seed = 1;
  std::uint32_t index = 0;
  bool restate = false;  // the question is asked in full, then what the answer completes
};

// The length of a sentence, in what TaskRequest::length counts.
using SentenceLength = std::function<Result<std::size_t>(const std::string& sentence)>;

struct GeneratedTask {
  TaskItem item;
  std::string about;  // JSON: the request, and what was planted
};

// The same request gives the same item on every machine. Errors: an unknown kind, with the nearest
// one; a length that what is planted does not fit in; those of `length_of`. Requires depth in [0,
// 1].
Result<GeneratedTask> generate_task(const TaskRequest& request, const SentenceLength& length_of);

}  // namespace kv::model
