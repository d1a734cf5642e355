// Exceptions that another thread raises in calls of policies, so that a call that hangs ends.
//
// Python delivers such an exception when the thread next runs its bytecode. That may be after the
// call, because the user interrupted it or because it returned at last, and then the exception
// would strike code that has nothing to do with the policy. It is taken back when the call ends.
// Python's lock guards all of this.
#pragma once

#include <pybind11/pybind11.h>

namespace kv::python {

// Lives as long as a call of a policy. Construct and destroy it under Python's lock.
class CallOfPython {
 public:
  CallOfPython();
  CallOfPython(const CallOfPython&) = delete;
  CallOfPython& operator=(const CallOfPython&) = delete;
  ~CallOfPython();
};

// Raises an exception of that type in the thread (threading.get_ident()) if it is in such a call.
void raise_in_call(unsigned long thread, const pybind11::object& type);

}  // namespace kv::python
