#include "kvcheck/python/bindings/forks.h"

#include <pthread.h>
#include <pybind11/pybind11.h>

namespace kv::python {
namespace {

thread_local bool runs_command = false;

// What before_fork() took; whether it took anything.
thread_local PyGILState_STATE taken{};
thread_local bool has_taken = false;

void before_fork() {
  // Python's own os.fork() holds the lock, and does the rest itself.
  if (!runs_command || PyGILState_Check() != 0) return;
  taken = PyGILState_Ensure();
  PyOS_BeforeFork();
  has_taken = true;
}

void in_parent() {
  if (!has_taken) return;
  has_taken = false;
  PyOS_AfterFork_Parent();
  PyGILState_Release(taken);
}

void in_child() {
  if (!has_taken) return;
  has_taken = false;
  PyOS_AfterFork_Child();
  PyGILState_Release(taken);
}

}  // namespace

ForksWithLock::ForksWithLock() : outer_(runs_command) {
  // Without room for the handlers forks are as they were.
  static const int registered = ::pthread_atfork(before_fork, in_parent, in_child);
  runs_command = registered == 0;
}

ForksWithLock::~ForksWithLock() {
  runs_command = outer_;
}

}  // namespace kv::python
