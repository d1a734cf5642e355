// pages: tokens go by whole pages, the oldest page first, but for the first of all.
//
// Page i holds the positions i * page to (i + 1) * page - 1. When the middle is over its capacity
// all that is left of its oldest page goes at once. With first-page=pinned page 0 is spared as long
// as another page can go: the sinks' page stays whole, and all of its tokens are seen. With
// first-page=freed only the cache's sinks of it stay. With first-page=masked queries see the same,
// but the rest of a page that holds sinks is hidden instead of freed: page - sinks rows more stay
// stored, as where such a page cannot be given back.
//
// Of what is pinned only so much can stay as sinks and middle have room for; where they hold less
// than a page, its newest tokens go. Without a middle the cache is a window, and no page is known.
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
