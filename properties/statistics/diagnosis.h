// Diagnosis: when a claimed law is refuted, which law the counts follow instead.
#pragma once

#include <string>

#include "kvcheck/properties/statistics/counts.h"

namespace kv::properties {

// A law that the inclusions fit, in words: "inclusion falls geometrically with age: (4/5)^age",
// "every stream keeps the same tokens", "the newest 4 tokens stay". Empty: none of those known.
// `claimed` is not tried.
std::string follows(const Counts& counts, ChanceLaw claimed);

// The probability with which newcomers are kept: "newcomers are kept with k/(t-1)". Empty: none of
// those known, or the claimed one, or decisions were not reported.
std::string accepts_like(const Counts& counts, ChanceLaw claimed);

// Which of the older tokens is evicted: a phrase. Empty: nothing so simple.
std::string evicts_like(const Counts& counts);

}  // namespace kv::properties
