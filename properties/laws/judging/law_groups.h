// The groups that laws() is made of, one file each in properties/laws/.
#pragma once

#include <vector>

#include "kvcheck/properties/law.h"

namespace kv::properties {

std::vector<Law> survival_laws();     // every call is answered
std::vector<Law> size_laws();         // how many rows are stored, seen and reported
std::vector<Law> visibility_laws();   // which rows a query sees
std::vector<Law> resident_laws();     // which rows stay, in which order, and that none returns
std::vector<Law> position_laws();     // rotary positions
std::vector<Law> row_laws();          // keys and values that belong together, unharmed
std::vector<Law> isolation_laws();    // layers, heads, sequences and objects that keep apart
std::vector<Law> operation_laws();    // reset, fork, truncate, reorder, shift, snapshot
std::vector<Law> chunking_laws();     // what must not depend on how a stream is cut
std::vector<Law> attention_laws();    // weights, scores, and what they decide
std::vector<Law> reference_laws();    // executable specifications, dense limit, reductions
std::vector<Law> statistical_laws();  // what is claimed of chance

}  // namespace kv::properties
