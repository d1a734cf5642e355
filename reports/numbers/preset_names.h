// The names of published systems among the specs of a table.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace kv {
struct Spec;
}

namespace kv::reports {

// The name of the preset that equals the spec at this budget, or of the only one that equals it but
// for sizes; otherwise `label`.
std::string preset_or_label(const Spec& spec, const std::string& label);

// One name per spec: preset_or_label() of its label among all (labels_of), or this label where
// specs with different labels would have the same name, of which the one with the preset's own
// sizes keeps it.
std::vector<std::string> names_of(std::span<const Spec> specs);

}  // namespace kv::reports
