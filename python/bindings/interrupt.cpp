#include "kvcheck/python/bindings/interrupt.h"

#include <atomic>

namespace kv::python {
namespace {

std::atomic<bool> noted = false;

}  // namespace

void note_interrupt() {
  noted = true;
}

bool take_interrupt() {
  return noted.exchange(false);
}

}  // namespace kv::python
