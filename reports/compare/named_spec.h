// The spec of a results file that a user names.
#pragma once

#include <string>

namespace kv {
struct Spec;
}

namespace kv::reports {

// Whether the words mean this spec: its policy's name, its label or its canonical text, or a spec
// or preset that equals it at its budget.
bool names_spec(const std::string& words, const Spec& spec);

}  // namespace kv::reports
