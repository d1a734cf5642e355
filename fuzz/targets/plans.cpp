#include "kvcheck/base/check.h"
#include "kvcheck/cli/sweep/plan/plan_text.h"
#include "kvcheck/fuzz/support/inputs.h"
#include "kvcheck/fuzz/targets/targets.h"
#include "kvcheck/model/tasks/answer_scores.h"
#include "kvcheck/model/tasks/task_item.h"
#include "kvcheck/reports/hypotheses/hypothesis.h"

namespace kv::fuzz {

bool sweep_plan(Input input) {
  const Result<cli::PlanText> plan = cli::parse_plan(text_of(input), "plan.json");
  if (!plan) return refused(plan.error());
  const bool timed = plan->kind == reports::SweepKind::speed;
  KV_CHECK(timed ? !plan->times.lengths.empty() : !plan->sources.empty());
  KV_CHECK(!plan->policies.empty() && !plan->seeds.empty());
  const Result<cli::PlanText> again = cli::parse_plan(cli::plan_json(*plan), "again");
  KV_CHECK(again.has_value() && *again == *plan);
  return true;
}

bool hypotheses(Input input) {
  const auto parsed = reports::parse_hypotheses(text_of(input), "file.json");
  if (!parsed) return refused(parsed.error());
  KV_CHECK(!parsed->empty() && !parsed->front().conditions.empty());
  const auto again = reports::parse_hypotheses(reports::hypotheses_json(*parsed), "again");
  KV_CHECK(again.has_value() && *again == *parsed);
  return true;
}

bool task_items(Input input) {
  const auto items = model::parse_tasks(text_of(input), "items.jsonl");
  if (!items) return refused(items.error());
  std::string lines;
  for (const model::TaskItem& item : *items) {
    lines += model::task_line(item) + "\n";
    KV_CHECK(!item.answers.empty() && !item.context.empty());
    const model::AnswerScore score = model::score_answer(item.context, item.answers);
    KV_CHECK(score.f1 >= 0 && score.f1 <= 1);
    // An answer is a right answer, whatever its words are.
    KV_CHECK(model::score_answer(item.answers.front(), item.answers).exact);
  }
  const auto again = model::parse_tasks(lines, "again");
  KV_CHECK(again.has_value() && *again == *items);
  return true;
}

}  // namespace kv::fuzz
