// Whether a query paid a token its fair share: the mean over what it saw.
#pragma once

#include <cstddef>

namespace kv {

// At least 1 / visible, less 10^-4 of it: even attention is fair to all, however it was rounded.
inline bool fair_share(float mass, std::size_t visible) {
  return static_cast<double>(mass) * static_cast<double>(visible) >= 1 - 1e-4;
}

}  // namespace kv
