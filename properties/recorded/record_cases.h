// The cases of a battery as recorded histories.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "kvcheck/base/error.h"
#include "kvcheck/properties/battery/battery.h"

namespace kv::properties {

struct RecordedCases {
  std::uint64_t recorded = 0;
  std::uint64_t failed = 0;    // of these: where the subject died or failed
  std::uint64_t refused = 0;   // sizes that the subject does not take
  std::uint64_t too_long = 0;  // a call would need a longer line than a file may have
};

// Runs the cases that laws share in a battery with these options, and gives the lines of some runs
// at a time to `take`, whose error ends it. Where the subject dies or fails, its run ends there. A
// subject in this process is run in child processes. Stops when the options' time is over.
Result<RecordedCases> record_cases(Family& family,
                                   const BatteryOptions& options,
                                   const std::function<Result<void>(std::string_view)>& take);

}  // namespace kv::properties
