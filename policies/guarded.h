// Calls of code that may be a user's: a policy from a shared library may throw, though its
// interface does not allow it.
#pragma once

#include <exception>
#include <new>
#include <string>

namespace kv {

// Calls `call` and returns what it threw, as the end of a sentence that begins with the name of the
// policy; empty if it threw nothing. Lack of memory is not the policy's fault, so std::bad_alloc is
// passed on.
template <typename Call>
std::string thrown_by(const Call& call) {
  try {
    call();
    return {};
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& exception) {
    return std::string("throws an exception: ") + exception.what();
  } catch (...) {
    return "throws an exception of an unknown kind";
  }
}

}  // namespace kv
