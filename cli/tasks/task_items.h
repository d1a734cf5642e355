// The items of a task file as the tokens that a model reads.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/cli/model/model_options.h"
#include "kvcheck/cli/options/options.h"
#include "kvcheck/model/tasks/task_item.h"
#include "kvcheck/model/tasks/task_stream.h"

namespace kv::cli {

struct TaskItems {
  std::uint64_t checksum = 0;  // XXH3-64 of the file's bytes
  std::vector<model::TaskItem> items{};
  std::vector<model::TaskStream> streams{};  // by item
  std::vector<std::size_t> tokens{};         // by item, how many the model reads at most
};

// What a model reads of an item after its question: to answer, as many tokens as it may generate,
// the first right answer and each choice; to be recorded, the first right answer. The last token of
// each is not read.
enum class ItemUse { answered, recorded };

// Reads --tasks. Errors have the file and the line: what parse_tasks and stream_of report, and an
// item that is longer than the model's training, unless longer ones are allowed. To be answered,
// requires --answer-tokens in the table.
Result<TaskItems> task_items_of(const Arguments& arguments,
                                const OpenedModel& opened,
                                ItemUse use,
                                bool longer_allowed);

// An error if one of these options, which are about a text, is given beside --tasks.
Result<void> check_no_text(const Arguments& arguments, std::span<const std::string_view> options);

// Notes on items that are longer than the texts that the model was trained on.
std::vector<std::string> length_notes(const TaskItems& items, const OpenedModel& opened);

}  // namespace kv::cli
