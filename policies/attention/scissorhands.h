// scissorhands: evicts the tokens that most often received less than the mean attention.
//
// For each token the policy counts how many of the last `history` queries paid the token less than
// 1 / visible. When the middle is over its capacity, the tokens with the highest counts are
// evicted: `drop` percent of the middle at once, so that decisions are rare. Among equal counts the
// older token is evicted.
//
// The count covers only the queries that saw the token and is not divided by their number. The mean
// is compared with a tolerance (policies/parts/fair_share.h).
#pragma once

#include <cstddef>
#include <memory>

#include "kvcheck/policies/entry.h"

namespace kv {

// Requires history >= 1 and drop_percent < 100.
std::unique_ptr<Policy> make_scissorhands(std::size_t history, std::size_t drop_percent);

PolicyEntry scissorhands_policy();

}  // namespace kv
