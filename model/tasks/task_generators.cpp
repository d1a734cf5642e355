#include "kvcheck/model/tasks/task_generators.h"

#include <algorithm>
#include <array>

#include "kvcheck/base/check.h"
#include "kvcheck/base/text/json_text.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/model/tasks/english_tasks.h"
#include "kvcheck/model/tasks/story_tasks.h"

namespace kv::model {
namespace {

using Maker = Result<PlantedTask> (*)(const TaskRequest&, const SentenceLength&);

struct Kind {
  TaskKind kind;
  Maker make;
};

constexpr std::array<Kind, 10> all_kinds = {{
    {{"passkey", "a pass key of five digits in filler"}, passkey_task},
    {{"needle", "the number of one thing in filler"}, needle_task},
    {{"needles", "several numbers of one thing, --others more than one; all are asked for", true},
     needles_task},
    {{"keys", "the number of one thing among those of --others more", true}, keys_task},
    {{"lookup", "the value of one key in nothing but pairs of random words"}, lookup_task},
    {{"variables", "a value that is handed on over --others variables", true}, variables_task},
    {{"frequent", "the word that stands most often in a list; it has no depth", false, false},
     frequent_task},
    {{"story-fact", "story of the bundled model: one fact"}, story_fact_task},
    {{"story-facts", "the same among --others facts of other names and items", true},
     story_facts_task},
    {{"story-names",
      "the same among --others facts of the same item, too hard for the bundled model", true},
     story_names_task},
}};

constexpr std::array<TaskKind, all_kinds.size()> kinds_alone = [] {
  std::array<TaskKind, all_kinds.size()> kinds{};
  for (std::size_t i = 0; i < kinds.size(); ++i) kinds[i] = all_kinds[i].kind;
  return kinds;
}();

}  // namespace

std::span<const TaskKind> task_kinds() {
  return kinds_alone;
}

Result<GeneratedTask> generate_task(const TaskRequest& request, const SentenceLength& length_of) {
  KV_CHECK(request.depth >= 0 && request.depth <= 1);
  const auto found =
      std::ranges::find(all_kinds, request.kind, [](const Kind& kind) { return kind.kind.name; });
  if (found == all_kinds.end()) {
    std::vector<std::string_view> names;
    for (const Kind& kind : all_kinds) names.push_back(kind.kind.name);
    return usage_error(unknown_word("kind of task", request.kind, names));
  }
  Result<PlantedTask> made = found->make(request, length_of);
  if (!made) return made.error();
  GeneratedTask task{.item = std::move(made->item), .about = {}};
  task.item.id = request.kind + "-" + std::to_string(request.index);
  task.item.group = request.kind;
  JsonObject about;
  about.add("kind", request.kind).add("length", std::uint64_t{request.length});
  if (found->kind.has_depth) about.add("depth", request.depth);
  if (found->kind.has_others) about.add("others", std::uint64_t{request.others});
  about.add("seed", request.seed).add("index", std::uint64_t{request.index});
  // Only where it is true, so that other items have the bytes that they had without the option.
  if (request.restate) about.add("restate", true);
  about.add_raw("planted", json_list(made->planted, json_string));
  task.about = about.text();
  return task;
}

}  // namespace kv::model
