// Whether a query paid a token its fair share, which is the mean over the visible set.
#pragma once

#include <cstddef>

namespace kv {

// True for at least 1 / visible, less a relative tolerance of 10^-4. Even attention is therefore
// fair to all tokens despite rounding.
inline bool fair_share(float mass, std::size_t visible) {
  return static_cast<double>(mass) * static_cast<double>(visible) >= 1 - 1e-4;
}

}  // namespace kv
