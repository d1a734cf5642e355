// Our policies in our cache, as a family of subjects.
#pragma once

#include <memory>

#include "kvcheck/properties/family.h"

namespace kv {
struct Spec;
}  // namespace kv

namespace kv::properties {

// Subjects that run `spec` with the sizes of each setup (the spec's own where the setup is the
// requested one). All operations are offered; truncate is refused where the policy cannot go back.
std::unique_ptr<Family> make_spec_family(const Spec& spec);

}  // namespace kv::properties
