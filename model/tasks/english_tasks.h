// The kinds of tasks in English. Private to model/tasks.
#pragma once

#include "kvcheck/model/tasks/planted_text.h"

namespace kv::model {

Result<PlantedTask> passkey_task(const TaskRequest& request, const SentenceLength& length_of);
Result<PlantedTask> needle_task(const TaskRequest& request, const SentenceLength& length_of);
Result<PlantedTask> keys_task(const TaskRequest& request, const SentenceLength& length_of);
Result<PlantedTask> needles_task(const TaskRequest& request, const SentenceLength& length_of);
Result<PlantedTask> lookup_task(const TaskRequest& request, const SentenceLength& length_of);
Result<PlantedTask> variables_task(const TaskRequest& request, const SentenceLength& length_of);
Result<PlantedTask> frequent_task(const TaskRequest& request, const SentenceLength& length_of);

}  // namespace kv::model
