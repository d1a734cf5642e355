// What results say of hypotheses.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/reports/hypotheses/hypothesis.h"
#include "kvcheck/reports/hypotheses/verdict.h"
#include "kvcheck/reports/numbers/statistics.h"

namespace kv::reports {

struct DecidedCondition {
  Condition condition;
  Verdict verdict = Verdict::undecided;
  // Of numbers: the mean, difference or ratio with its 95 % interval over texts (bootstrap.h),
  // and the two means that it is of; NaN for laws and samples.
  Interval value{};
  double of_mean = not_measured;
  double against_mean = not_measured;
  std::size_t texts = 0;  // that have both values; of tasks items, of timings runs
  std::string found{};    // of laws and samples: what was found, in words
};

struct DecidedHypothesis {
  Hypothesis hypothesis;
  Verdict verdict = Verdict::undecided;
  std::vector<DecidedCondition> conditions{};
};

// Whether an interval lies above and below what is asked for, outside of it, or neither.
Verdict verdict_on(const Interval& value, const Bounds& bounds);

// On a hypothesis.
Verdict verdict_on(const std::vector<DecidedCondition>& conditions);

// Reads the files of results that conditions name, each once, and decides. A spec of a condition
// must stand for one spec of its file. `name` is the file of the hypotheses. Errors name it and
// the condition: a file that cannot be read; one that has no such spec, law or measure; several
// sizes of windows or lengths where the condition says none; results of several models or storages,
// which would count one text more than once; a ratio to 0.
Result<std::vector<DecidedHypothesis>> decide(const std::vector<Hypothesis>& hypotheses,
                                              const std::string& name);

}  // namespace kv::reports
