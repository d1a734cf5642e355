// Items of tasks: a context, a question about it, and the answers that count as right.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kvcheck/base/error.h"

namespace kv::model {

// The context, the question and an answer are one text, with a blank before the answer unless the
// question ends with white space.
struct TaskItem {
  std::string id{};                    // no other item of the file has it
  std::string group{};                 // items of one group are summed up together; may be empty
  std::string context{};               // what a cache is filled with
  std::string question{};              // may be empty
  std::vector<std::string> answers{};  // each is right; the loss is that of the first
  std::vector<std::string> choices{};  // texts that the model ranks; none, or with the first answer
  std::vector<std::string> stops{};    // a generated answer ends before the first of these

  bool operator==(const TaskItem&) const = default;
};

// Reads JSON lines: one object a line with "id", "context" and "answers", and optionally "group",
// "question", "choices", "stop" ["\n"] and "about" (an object that says how the item was made,
// which is not read). Empty lines are skipped. `name` is the file's, for errors, which also have
// the line and the field. Errors: no items; text that is not UTF-8; what is not JSON; a field that
// is unknown, missing, of another kind, empty or given twice; an id that two items have; choices
// without the first answer; an answer with a stop inside, unless there are choices. Cost:
// linear in the text.
Result<std::vector<TaskItem>> parse_tasks(std::string_view text, const std::string& name);

// The number of the line, from 1, with the item of that index of what parse_tasks reads from the
// text.
std::size_t line_of_item(std::string_view text, std::size_t index);

// XXH3-64 of all that decides the item's scores: its context, question, answers, choices and stops,
// but not its id and group. Never 0.
std::uint64_t checksum_of(const TaskItem& item);

// The line that parse_tasks reads as this item, without a line break. `about` is JSON, or empty.
std::string task_line(const TaskItem& item, const std::string& about = "");

}  // namespace kv::model
