// The groups that laws() is made of, in its order. Each is a table in a file of its name, and known
// before any code runs.
#pragma once

#include <span>

#include "kvcheck/properties/law.h"

namespace kv::properties {

using Laws = std::span<const Law>;

extern const Laws survival_laws;     // every call is answered
extern const Laws size_laws;         // how many rows are stored, seen and reported
extern const Laws cost_laws;         // what a size costs, and whether it is reached
extern const Laws sharing_laws;      // what the heads of a layer keep together
extern const Laws visibility_laws;   // which rows a query sees
extern const Laws semantics_laws;    // exactly which set
extern const Laws choice_laws;       // which pages a query selects
extern const Laws resident_laws;     // which rows stay, and in which order
extern const Laws return_laws;       // that none returns
extern const Laws position_laws;     // rotary positions
extern const Laws row_laws;          // keys and values that belong together, unharmed
extern const Laws isolation_laws;    // layers, heads, sequences and objects that keep apart
extern const Laws operation_laws;    // reset, fork, truncate, reorder, shift, snapshot
extern const Laws chunking_laws;     // what must not depend on how a stream is cut
extern const Laws call_laws;         // empty calls and refused chunks
extern const Laws attention_laws;    // weights, scores, and what they decide
extern const Laws reference_laws;    // executable specifications, dense limit, reductions
extern const Laws statistical_laws;  // what is claimed of chance

}  // namespace kv::properties
