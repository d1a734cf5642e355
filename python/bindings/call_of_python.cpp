#include "kvcheck/python/bindings/call_of_python.h"

#include <map>

namespace kv::python {
namespace {

struct Calls {
  int depth = 0;        // a policy may replay another
  bool raised = false;  // something that may not have been delivered yet
};

std::map<unsigned long, Calls>& calls_by_thread() {
  static std::map<unsigned long, Calls> calls;
  return calls;
}

}  // namespace

CallOfPython::CallOfPython() {
  ++calls_by_thread()[PyThread_get_thread_ident()].depth;
}

CallOfPython::~CallOfPython() {
  const unsigned long thread = PyThread_get_thread_ident();
  auto& all = calls_by_thread();
  const auto own = all.find(thread);
  if (own->second.raised) PyThreadState_SetAsyncExc(thread, nullptr);
  own->second.raised = false;
  if (--own->second.depth == 0) all.erase(own);
}

void raise_in_call(unsigned long thread, const pybind11::object& type) {
  const auto own = calls_by_thread().find(thread);
  if (own == calls_by_thread().end()) return;
  own->second.raised = true;
  PyThreadState_SetAsyncExc(thread, type.ptr());
}

}  // namespace kv::python
