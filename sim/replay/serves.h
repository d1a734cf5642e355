// Whether a trace has the inputs that a spec needs.
#pragma once

#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/base/token_class.h"
#include "kvcheck/traces/trace.h"

namespace kv {

struct Spec;

// An error if the trace lacks an input; it names the spec, the input and what the trace has. Traces
// of attention rows cannot serve in-cache positions, selected pages, queries, keys or values.
// Traces without text cannot serve token classes. No trace has the attention of a reconstruction.
// The heads of budgets=retrieval and some layer that is not dense must be in the trace. The marks
// that a spec's phases need must be there.
Result<void> check_serves(const Trace& trace, const Spec& spec);

// The spec with the sizes that the marks of the trace give it (sim/spec/phases.h).
Result<Spec> resolved_for(const TraceInfo& trace, const Spec& spec);

// The class of every token, from its part of the trace's text; empty if the trace has no text.
std::vector<TokenClass> token_classes(const Trace& trace);

}  // namespace kv
