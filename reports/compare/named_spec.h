// The spec of a results file that a user names.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace kv {
struct Spec;
}

namespace kv::reports {

// Whether the words mean this spec: its policy's name, its label or its canonical text, or a spec
// or preset that equals it at its budget.
bool names_spec(const std::string& words, const Spec& spec);

// For each spec of one result, whether the words mean it. The whole name of some of them, as tables
// and figures show it, means only these: "streaming" beside "streaming lazy:8" is one of two.
// Otherwise as names_spec().
std::vector<bool> named_among(const std::string& words, std::span<const Spec> specs);

}  // namespace kv::reports
