// pages: evicts whole pages, the oldest first, with special rules for the first page of the stream.
//
// Page i holds the positions i * page to (i + 1) * page - 1. When the middle is over its capacity,
// all remaining tokens of its oldest page are evicted at once. With first-page=pinned, page 0 is
// kept as long as another page can be evicted: the page of the sinks remains whole, and queries see
// all of its tokens. With first-page=freed, only the cache's sinks remain of page 0. With
// first-page=masked queries see the same tokens as with freed, but the rest of a page that holds
// sinks is masked instead of freed. page - sinks more rows then remain stored, as in a system that
// cannot free part of a page.
//
// Pinned tokens must fit into the sinks and the middle. If these hold less than a page, the newest
// tokens of the page are evicted. Without a middle the cache is a window, and pages have no effect.
#pragma once

#include <cstddef>
#include <memory>

#include "kvcheck/policies/entry.h"

namespace kv {

enum class FirstPage { pinned, masked, freed };

// Requires page >= 1.
std::unique_ptr<Policy> make_pages(std::size_t page, FirstPage first);

PolicyEntry pages_policy();

}  // namespace kv
