// The kinds of tasks in the language of the bundled model. Private to model/tasks.
#pragma once

#include "kvcheck/model/tasks/planted_text.h"

namespace kv::model {

Result<PlantedTask> story_fact_task(const TaskRequest& request, const SentenceLength& length_of);
Result<PlantedTask> story_facts_task(const TaskRequest& request, const SentenceLength& length_of);
Result<PlantedTask> story_names_task(const TaskRequest& request, const SentenceLength& length_of);

}  // namespace kv::model
