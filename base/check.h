// KV_CHECK: requirements between parts of this program.
#pragma once

namespace kv {

[[noreturn]] void check_failed(const char* condition, const char* file, int line);

}  // namespace kv

// Prints the condition and aborts if it is false. It is active in every build type, because a wrong
// cache that continues is worse than one that stops. Errors in files, options or the machine are
// Errors (base/error.h), never a failed KV_CHECK.
#define KV_CHECK(condition) \
  (static_cast<bool>(condition) ? void(0) : ::kv::check_failed(#condition, __FILE__, __LINE__))
