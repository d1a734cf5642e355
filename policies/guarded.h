// Calls of code that may be a user's: a policy from a shared library may throw, though its
// interface does not allow it.
#pragma once

#include <exception>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>

namespace kv {

// Thrown by Draws that have no number to give, for example because the host that makes it gave a
// wrong one. Policies let it pass, and so do the caches that call them.
class DrawFailed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Calls `call` and returns what it threw, as the end of a sentence that begins with the name of the
// policy; nullopt if it threw nothing. Lack of memory and failed draws are not the policy's fault,
// so std::bad_alloc and DrawFailed are passed on.
template <typename Call>
std::optional<std::string> thrown_by(const Call& call) {
  try {
    call();
    return std::nullopt;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const DrawFailed&) {
    throw;
  } catch (const std::exception& exception) {
    return std::string("throws an exception: ") + exception.what();
  } catch (...) {
    return "throws an exception of an unknown kind";
  }
}

}  // namespace kv
