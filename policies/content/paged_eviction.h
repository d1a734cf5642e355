// paged-eviction: evicts whole pages, the one whose tokens have the shortest values beside their
// keys first.
//
// Page i holds the positions i * page to (i + 1) * page - 1. A token's score is the 2-norm of its
// value divided by that of its key, averaged over the unit's kv-heads; rotation does not change it.
// A page's score is the mean over its tokens. When the middle is over its capacity, all tokens of
// the page with the lowest score are evicted at once, among equals those of the older page. Only
// pages that lie in the middle as a whole may be evicted: neither the newest one, until it is full,
// nor one that shares tokens with the sinks or with the recent window. If there is none, the oldest
// token is evicted, so a middle should hold two pages.
//
// The score of a key of length 0 is that of its value.
#pragma once

#include <cstddef>
#include <memory>

#include "kvcheck/policies/entry.h"

namespace kv {

// Requires page >= 1.
std::unique_ptr<Policy> make_paged_eviction(std::size_t page);

PolicyEntry paged_eviction_policy();

}  // namespace kv
