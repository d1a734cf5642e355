// scissorhands: tokens that mattered stay; those most often paid less than the mean go.
//
// Of the last `history` queries it counts, for each token, those that paid it less than
// 1 / visible. When the middle is over its capacity, the tokens with the highest counts go: `drop`
// percent of the middle at once, so that decisions are rare. Among equal counts the older goes.
//
// The count runs over the queries that saw the token and is not divided by their number; the mean
// is compared with a tolerance (policies/attention/lru.h).
#pragma once

#include <cstddef>
#include <memory>

#include "kvcheck/policies/entry.h"

namespace kv {

// Requires history >= 1 and drop_percent < 100.
std::unique_ptr<Policy> make_scissorhands(std::size_t history, std::size_t drop_percent);

PolicyEntry scissorhands_policy();

}  // namespace kv
