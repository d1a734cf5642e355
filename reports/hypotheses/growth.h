// How timings grow.
#pragma once

#include <span>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/reports/hypotheses/hypothesis.h"
#include "kvcheck/reports/store/results.h"

namespace kv::reports {

// For each repetition the exponent e of value = c x^e that fits best to the logarithms (least
// squares). x is the length of the prompt, at all lengths of the runs; or, if the condition has a
// length, the budget of the specs that its words stand for. Errors: fewer than two lengths or
// budgets; words that stand for several specs of one budget, or none; repetitions that are missing
// at one of them.
Result<std::vector<double>> growth_exponents(const Condition& condition,
                                             std::span<const StoredRun> runs);

}  // namespace kv::reports
