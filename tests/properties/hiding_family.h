// Subjects that tell of their rows whose they are, and nothing else, and hear no attention:
// whatever a family's subjects know beyond that is hidden.
#pragma once

#include <memory>

#include "kvcheck/properties/family.h"

namespace kv::properties {

std::unique_ptr<Family> make_hiding(std::unique_ptr<Family> family);

}  // namespace kv::properties
