// The specs of a results file that a user names.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kvcheck/reports/compare/measured.h"
#include "kvcheck/reports/store/results.h"

namespace kv {
struct Spec;
}

namespace kv::reports {

// Whether the words mean this spec: its policy's name, its name as tables show it (row_name), alone
// or with its budget, as in "@tova at 64", its label or canonical text, or a spec or preset that
// equals it at its budget.
bool names_spec(const std::string& words, const Spec& spec);

// For each spec of one result, whether the words mean it. The whole name of some of them, as tables
// and figures show it, means only these: "streaming" beside "streaming lazy:8" is one of two.
// Otherwise as names_spec(); if no spec is meant so, those that are but for their chunk; and if
// none is meant either, those that have every field and setting that the words give.
std::vector<bool> named_among(const std::string& words, std::span<const Spec> specs);

// Those of the measured specs that the words mean among all of them.
std::vector<const MeasuredSpec*> specs_named(const std::string& words, const MeasuredTexts& all);

// Each spec of the runs once, at each of its budgets, in the order in which they have them first.
std::vector<Spec> specs_in(std::span<const StoredRun> runs);

// The sentence about words that mean none of these specs: "--policies names 'tov', which no run
// has; did you mean 'tova'?" `option` is with its dashes, and `lacking` is as here "no run has".
std::string not_named(std::string_view option,
                      const std::string& words,
                      std::string_view lacking,
                      std::span<const Spec> specs);

}  // namespace kv::reports
