// The battery's statistical laws.
#pragma once

#include <vector>

#include "kvcheck/properties/battery/battery.h"

namespace kv::properties {

// The results of the statistical laws that apply, those that show most with few streams first.
std::vector<LawResult*> measured_laws(BatteryResult& report);

// Measures a statistical law. A subject in this process is measured in a child, and its death
// breaks the law.
StatisticalVerdict measure_law(const Law& law,
                               Family& family,
                               const Effort& effort,
                               double case_seconds);

// Measures them. Where time is limited (by the user, or for a subject in another process) each gets
// a fair share of it until `end`, the first ones a larger one; what one leaves is the others'.
void measure_all(BatteryResult& report, Family& family, const BatteryOptions& options, double end);

}  // namespace kv::properties
