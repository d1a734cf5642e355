#include "kvcheck/properties/battery/attempt.h"

#include <algorithm>

#include "kvcheck/base/check.h"

namespace kv::properties {
namespace {

Attempt relate(JudgeRelation relation, Family& family, const Case& what) {
  const auto contract = family.contract(what.setup);
  if (!contract) return {NotTested{contract.error().message}, {}, {}};
  Trial trial(family, what);
  Attempt result{relation(trial, *contract), trial.coverage(), {}};
  if (trial.stop()) {
    result.judgement = trial.stop()->judgement;
    result.death = trial.stop()->death;
    result.died_of = trial.stop()->died_of;
  }
  return result;
}

}  // namespace

bool is_judge(const Law& law) {
  return std::holds_alternative<JudgeHistory>(law.check);
}

bool is_relation(const Law& law) {
  return std::holds_alternative<JudgeRelation>(law.check);
}

Attempt attempt(const Law& law, Family& family, const Case& what) {
  if (const auto* relation = std::get_if<JudgeRelation>(&law.check)) {
    return relate(*relation, family, what);
  }
  KV_CHECK(is_judge(law));
  auto history = run_case(family, what);
  if (!history) return {NotTested{history.error().message}, {}, {}};
  if (history->died) {
    return {NotTested{"the subject died"}, {}, {}, history->failure, history->what};
  }
  Attempt result{
      std::get<JudgeHistory>(law.check)(*history, history->contract), history->coverage, {}};
  result.history = std::move(*history);
  return result;
}

bool breaks(const Law& law, const History& history, const Contract& contract) {
  return std::holds_alternative<Finding>(std::get<JudgeHistory>(law.check)(history, contract));
}

bool all_hold(const History& history, const Contract& contract) {
  return std::ranges::none_of(laws(), [&](const Law& law) {
    return is_judge(law) && !law.why_not(contract) && breaks(law, history, contract);
  });
}

}  // namespace kv::properties
