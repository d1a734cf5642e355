// Whether a trace has what a spec asks for.
#pragma once

#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/base/token_class.h"
#include "kvcheck/traces/trace.h"

namespace kv {

struct Spec;

// Nothing, or an error that names the spec, what it asks for and what the trace has: in-cache
// positions, queries, keys or values of a trace of attention rows; token classes of a trace without
// its text; heads to retrieve that the trace has not.
Result<void> check_serves(const Trace& trace, const Spec& spec);

// The class of every token, by its part of the trace's text; empty if the trace has no text.
std::vector<TokenClass> token_classes(const Trace& trace);

}  // namespace kv
