// kvzip: keeps the tokens that the model needs most to repeat its prompt; it evicts those to which
// no query of the repetition paid much attention.
//
// A token's score is its mass in the last observation. In a running model there is one, at the end
// of the prompt: the model reads the prompt a second time, with the rows of the first time visible,
// and a row's mass is the largest that any query of this reading, of any query head of the unit,
// paid to it (Needs::reconstruction). The question comes afterwards. The lowest scores are evicted,
// among equals the older token.
#pragma once

#include <cstddef>
#include <memory>

#include "kvcheck/policies/entry.h"

namespace kv {

// One pass of the model repeats `pass` tokens of the prompt. Requires pass >= 1.
std::unique_ptr<Policy> make_kvzip(std::size_t pass);

PolicyEntry kvzip_policy();

}  // namespace kv
