#include "kvcheck/properties/battery/followers.h"

#include "kvcheck/properties/battery/attempt.h"
#include "kvcheck/properties/battery/battery_results.h"

namespace kv::properties {
namespace {

// Deaths are distinguished by other means, and statistics have no case.
bool has_case(const LawResult& result) {
  return result.status == Status::broken && result.smallest && result.history &&
         !result.history->died && !(result.finding && result.finding->failed);
}

// Whether the law is about operations that the case of another law need not have: what breaks it
// there is most likely a fault of the operation.
bool makes_operations(const Law& law) {
  return law.id.starts_with("operation.") || law.id.starts_with("isolation.");
}

bool breaks_on(const Law& law, const LawResult& cause, Family& family, double case_seconds) {
  if (!is_judge(law)) {
    return try_apart(law, family, *cause.smallest, case_seconds).status == Status::broken;
  }
  // A relation shows the run that it made of the case, which need not be the case's own.
  return is_judge(*cause.law)
             ? breaks(law, *cause.history, cause.history->contract)
             : try_apart(law, family, *cause.smallest, case_seconds).status == Status::broken;
}

}  // namespace

void find_followers(BatteryResult& report, Family& family, double case_seconds) {
  for (std::size_t i = 0; i < report.laws.size(); ++i) {
    const LawResult& cause = report.laws[i];
    if (!has_case(cause) || cause.follows != nullptr) continue;
    for (std::size_t j = i + 1; j < report.laws.size(); ++j) {
      LawResult& other = report.laws[j];
      if (!has_case(other) || other.follows != nullptr || makes_operations(*other.law)) continue;
      if (breaks_on(*other.law, cause, family, case_seconds)) other.follows = cause.law;
    }
  }
}

}  // namespace kv::properties
