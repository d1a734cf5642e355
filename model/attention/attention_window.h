// Windows of layers: which of the visible positions a layer's queries attend to.
#pragma once

#include <cstddef>

#include "kvcheck/base/position.h"
#include "kvcheck/sim/cache/visible.h"

namespace kv::model {

// How many of the first ranks a window of `window` positions (0: none) hides from the query at
// `position`, which is the last of what is visible. With `ranks` the window counts ranks. Cost:
// O(log visible).
std::size_t out_of_window(const Visible& visible,
                          std::size_t window,
                          Position position,
                          bool ranks);

// What is left without the first `count` ranks. Requires count <= visible.size(). The positions of
// the middle are those of `visible`.
Visible without_first(Visible visible, std::size_t count);

}  // namespace kv::model
