// kvcheck record --tasks: a trace of each item of a task file.
#pragma once

#include "kvcheck/base/error.h"
#include "kvcheck/cli/model/model_options.h"
#include "kvcheck/cli/options/command.h"
#include "kvcheck/cli/options/options.h"
#include "kvcheck/model/run/record.h"

namespace kv::cli {

// Writes a folder with one trace for each item, by its number in the file: context, question, and
// the first right answer without its last token, which nothing follows. Their marks and, if
// `options` name no source, the item's id are in the trace. The folder appears whole or not at all.
// Requires arguments that were parsed with the table of `record` and name a task file. Errors: an
// option about a text; those of task_items_of; a folder that is not empty.
Result<void> record_tasks(const Arguments& arguments,
                          const OpenedModel& opened,
                          const model::RecordOptions& options,
                          Streams& streams);

}  // namespace kv::cli
