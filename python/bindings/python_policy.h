// Policies whose decisions are made in Python.
//
// A Python class is registered under its name, and from then on a spec may name it like any other
// policy. kvcheck makes one object of the class for each unit of a cell. Its calls are those of
// kv::Policy (policies/policy.h), made under Python's lock, so that policies of Python run on one
// thread at a time.
#pragma once

#include <pybind11/pybind11.h>

#include <string_view>

namespace kv::python {

// Adds the class that is described to the registry, or puts it in the place of an earlier class of
// its name. The description has the attributes of kvcheck.policies.Description, which checks them.
// At most 64 names. Throws Failure if something is wrong.
void register_class(const pybind11::object& described);

// Whether a registered policy is one of Python's: replays of such policies use one thread.
bool is_of_python(std::string_view name);

}  // namespace kv::python
