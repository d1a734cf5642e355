#include "kvcheck/python/bindings/interrupt.h"

#include <pybind11/pybind11.h>

#include <atomic>

namespace kv::python {
namespace {

std::atomic<bool> noted = false;

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

bool take_interrupt() {
  return noted.exchange(false);
}

}  // namespace kv::python
