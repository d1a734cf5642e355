// The other end of the line protocol: a family of this program, served to a host.
#pragma once

#include <functional>
#include <memory>

#include "kvcheck/properties/family.h"

namespace kv::properties {

// Answers requests read from `in` on `out` until `in` ends. `make` is called once; its error is the
// answer to everything. What the subjects throw reaches the host as a failure.
void serve_family(const std::function<Result<std::unique_ptr<Family>>()>& make, int in, int out);

}  // namespace kv::properties
