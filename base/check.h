// KV_CHECK: requirements between parts of this program.
#pragma once

namespace kv {

[[noreturn]] void check_failed(const char* condition, const char* file, int line);

}  // namespace kv

// Aborts with the failed condition when a requirement is broken. On in every build type, because a
// wrong cache that goes on is worse than one that stops. Never for what the outside can get wrong.
#define KV_CHECK(condition) \
  (static_cast<bool>(condition) ? void(0) : ::kv::check_failed(#condition, __FILE__, __LINE__))
