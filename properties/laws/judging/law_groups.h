// The groups that laws() is made of, in its order. Each is a table in a file of its name.
#pragma once

#include <span>

#include "kvcheck/properties/law.h"

namespace kv::properties {

using Laws = std::span<const Law>;

Laws survival_laws();     // every call is answered
Laws size_laws();         // how many rows are stored, seen and reported
Laws cost_laws();         // what a size costs, and whether it is reached
Laws sharing_laws();      // what the heads of a layer keep together
Laws visibility_laws();   // which rows a query sees
Laws semantics_laws();    // exactly which set
Laws choice_laws();       // which pages a query selects
Laws resident_laws();     // which rows stay, and in which order
Laws return_laws();       // that none returns
Laws position_laws();     // rotary positions
Laws row_laws();          // keys and values that belong together, unharmed
Laws isolation_laws();    // layers, heads, sequences and objects that keep apart
Laws operation_laws();    // reset, fork, truncate, reorder, shift, snapshot
Laws chunking_laws();     // what must not depend on how a stream is cut
Laws call_laws();         // empty calls and refused chunks
Laws attention_laws();    // weights, scores, and what they decide
Laws reference_laws();    // executable specifications, dense limit, reductions
Laws statistical_laws();  // what is claimed of chance

}  // namespace kv::properties
