// Names: what a spec's rows and curves are called.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace kv {
struct Spec;
}

namespace kv::reports {

// The name of a spec, the same in every table and figure, whatever else they show. It says all but
// the budget or ratio, so that specs of one budget have different names:
//   "@tova"                   the preset at the spec's budget or ratio is exactly this spec
//   "@tova:recent=16 chunk=64"  it is but for what follows: sizes, the policy's own fields, and
//                             numbers of settings, in no more words than the label has; of several
//                             such presets the one with the fewest differences, if there is one
//   "h2o:sinks=4 lazy:40"     otherwise: Spec::label() in words
// What a plain policy is called, such as h2o, remains its name where a preset equals it.
std::string row_name(const Spec& spec);

// The spec as its text says it, before it was resolved for a stream.
Spec unresolved(const Spec& spec);

// One name per spec.
std::vector<std::string> names_of(std::span<const Spec> specs);

}  // namespace kv::reports
