#include "kvcheck/base/check.h"
#include "kvcheck/cli/sweep/plan_text.h"
#include "kvcheck/fuzz/support/inputs.h"
#include "kvcheck/fuzz/targets/targets.h"

namespace kv::fuzz {

bool sweep_plan(Input input) {
  const Result<cli::PlanText> plan = cli::parse_plan(text_of(input), "plan.json");
  if (!plan) return refused(plan.error());
  KV_CHECK(!plan->traces.empty() && !plan->policies.empty() && !plan->seeds.empty());
  const Result<cli::PlanText> again = cli::parse_plan(cli::plan_json(*plan), "again");
  KV_CHECK(again.has_value() && *again == *plan);
  return true;
}

}  // namespace kv::fuzz
