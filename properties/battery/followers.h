// Which broken laws are broken by the case of another one: one fault breaks many.
#pragma once

#include "kvcheck/properties/battery/battery.h"

namespace kv::properties {

// Sets LawResult::follows of the broken laws that the smallest case of an earlier broken law breaks
// too. Relations are tried on that case, each in a process of its own where the subject is in this;
// those that make operations of their own follow none.
void find_followers(BatteryResult& report, Family& family, double case_seconds);

}  // namespace kv::properties
