#include "kvcheck/python/bindings/interrupt.h"

#include <pybind11/pybind11.h>

#include <utility>

namespace kv::python {
namespace {

// Calls on several threads each raise a KeyboardInterrupt of their own; one that runs Python code
// has a single thread.
thread_local bool noted = false;

}  // namespace

void note_interrupt() {
  noted = true;
}

// Python raises KeyboardInterrupt on its first thread only, when that runs Python code or asks.
bool asked_to_stop() {
  const pybind11::gil_scoped_acquire lock;
  if (PyErr_CheckSignals() == 0) return false;
  PyErr_Clear();
  return true;
}

bool is_interrupt_noted() {
  return noted;
}

bool take_interrupt() {
  return std::exchange(noted, false);
}

}  // namespace kv::python
